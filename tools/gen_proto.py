"""Generate the committed stubs of `libs/contracts` from `proto/`.

`python tools/gen_proto.py` rewrites them; with `--check` it fails when what is committed differs.
"""

import argparse
import filecmp
import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
OUT = ROOT / "libs" / "contracts" / "copycat"


def generate(into: Path) -> None:
    """Write messages, stubs and their types for every proto file."""
    os.environ["PATH"] = os.pathsep.join(
        (sysconfig.get_path("scripts"), os.environ["PATH"])
    )  # protoc-gen-mypy
    sources = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    arguments = ["protoc", f"--proto_path={PROTO}"]
    arguments += [f"--{kind}_out={into}" for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    if protoc.main([*arguments, *sources]) != 0:
        raise SystemExit("protoc failed: fix the proto file it names, then run this again")
    package = into / "copycat"
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__init__.py").touch()
    (package / "py.typed").touch()


def drift(fresh: Path, committed: Path) -> list[str]:
    """Name the files that differ, are missing or are left over."""
    names = {
        path.relative_to(root)
        for root in (fresh, committed)
        for path in root.rglob("*.py*")
        if "__pycache__" not in path.parts
    }
    return sorted(
        str(name)
        for name in names
        if not (
            (fresh / name).is_file()
            and (committed / name).is_file()
            and filecmp.cmp(fresh / name, committed / name, shallow=False)
        )
    )


def main() -> int:
    """Generate, or check for drift."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="fail when the committed stubs are not what proto/ gives"
    )
    check = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh = Path(folder) / "copycat"
        if check:
            stale = drift(fresh, OUT)
            for name in stale:
                print(f"stale: libs/contracts/copycat/{name} (run: make gen)")
            return 1 if stale else 0
        shutil.rmtree(OUT, ignore_errors=True)
        shutil.copytree(fresh, OUT)
    return 0


if __name__ == "__main__":
    sys.exit(main())
