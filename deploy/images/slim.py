"""Remove from an environment what no service of Copycat uses, strip its libraries, and compile what stays.

`python3 slim.py ENVIRONMENT`, while an image is built. What a running pipeline needs is shown by tests/e2e,
which run on these images.
"""

from __future__ import annotations

import compileall
import platform
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final

#: Below site-packages, by the reason they are not needed.
UNUSED: Final = (
    # Spark's machine learning, Hive, its SQL servers and shells, other clusters' and platforms' parts.
    *(
        f"pyspark/jars/{name}"
        for name in (
            "JTransforms-*", "algebra_*", "arpack*", "blas-*", "breeze*", "cats-kernel_*", "connect-repl",
            # (but what ORC's files take of Hive, hive-storage-api)
            "curator-*", "datanucleus-*", "derby-*", "hive-[!s]*", "hive-s[!t]*", "javolution-*", "jdo-api-*",
            "jpam-*", "jta-*", "kubernetes-*", "lapack-*", "leveldbjni-*", "libthrift-*",
            "netty-tcnative-*-osx-*", "netty-tcnative-*-windows-*", "jline-*", "volcano-*",
            "scala-compiler-*", "scala-parser-combinators_*", "spark-connect_*", "spark-graphx_*",
            "spark-hive*", "spark-kubernetes_*", "spark-mllib*", "spark-pipelines_*", "spark-repl_*",
            "spark-streaming_*", "spark-yarn_*", "spire*", "vertx-*", "zookeeper-*",
        )
    ),
    "pyspark/data", "pyspark/examples", "pyspark/ml", "pyspark/mllib", "pyspark/pandas", "pyspark/pipelines",
    "pyspark/sql/connect", "pyspark/streaming",
    # What is for those who compile against Arrow, its servers, its own clients of stores.
    "pyarrow/include", "pyarrow/src", "pyarrow/libarrow_flight.*", "pyarrow/libarrow_python_flight.*",
    "pyarrow/_flight.*", "pyarrow/libarrow_s3.*",
    "pyarrow/_s3fs.*", "pyarrow/_gcsfs.*", "pyarrow/_azurefs.*", "pyarrow/libarrow_python.so",
    "pyarrow/libarrow_python.so.*.*",
    # Tests, and made-up data for them.
    "*/tests", "faker", "polyfactory",
    # Declarations that only type checkers read.
    "**/*.pyi", "**/*.pxd", "**/*.pyx",
)  # fmt: skip
#: RocksDB, which holds the state of queries, has its library for each of 14 platforms: 72 MB, one of them 5.
ROCKS_DB: Final = {"x86_64": "librocksdbjni-linux64.so", "aarch64": "librocksdbjni-linux-aarch64.so"}
#: The services of AWS that the object connectors call.
AWS: Final = frozenset({"s3", "sts", "sso", "sso-oidc"})


def main() -> int:
    """Slim the environment that is named."""
    [site] = Path(sys.argv[1]).glob("lib/python3*/site-packages")
    for pattern in UNUSED:
        for path in list(site.glob(pattern)):
            _remove(path)
    for path in site.glob("botocore/data/*/"):
        if path.is_dir() and path.name not in AWS:
            _remove(path)
    for path in site.glob("pyspark/jars/rocksdbjni-*"):
        _keep_own_library(path)
    _strip(site)
    compileall.compile_dir(site, quiet=2, workers=0)
    return 0


def _keep_own_library(jar: Path) -> None:
    """Remove from RocksDB's jar the libraries of other machines than this one."""
    own = ROCKS_DB.get(platform.machine())
    if own is None:
        return
    slim = jar.with_suffix(".slim")
    with zipfile.ZipFile(jar) as whole, zipfile.ZipFile(slim, "w", zipfile.ZIP_DEFLATED) as kept:
        for name in whole.namelist():
            if name == own or not name.startswith("librocksdbjni-"):
                kept.writestr(name, whole.read(name))
    slim.replace(jar)


def _strip(site: Path) -> None:
    """Remove from libraries what only debuggers read."""
    # What wheels carry in `*.libs` was moved there by a program that lays files out as strip cannot.
    libraries = [path for path in site.rglob("*.so*") if path.is_file() and ".libs" not in path.parent.suffix]
    if libraries:
        subprocess.run(["/usr/bin/strip", "--strip-unneeded", *map(str, libraries)], check=True)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
