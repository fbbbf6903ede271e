"""Rewrite the jar lock of `libs/embedded`: which jars each program of its sets needs, and their sha256.

Run `python tools/lock_jars.py` after a change of version here, review the difference, then run
`tests/integration/embedded`: it compares what the broker's classes refer to with the jars that are there.
"""

from __future__ import annotations

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from copycat_connect.kafka_version import KAFKA_VERSION as KAFKA
from copycat_embedded.lock import Jar
from jgo.maven import Dependency, MavenContext

#: Of these parts no jar of KAFKA's release is on the index yet: that of an older one stands in.
STAND_INS = {"file": "4.3.1", "mirror": "4.3.1"}
#: What stands in also refers to some classes of its own release that KAFKA's has elsewhere: they come last.
BEHIND = {"connect": "file", "mirror": "mirror"}
#: The last before STOPPED was there (KIP-875 came with 3.5).
OLD_KAFKA = "3.4.1"
OLD_CONNECT = "connect-old"
LOG4J = "2.25.5"
POSTGRESQL_DRIVER = "42.7.14"
REGISTRY = "io.apicurio:apicurio-registry-app:tar.gz:all:3.0.9"  # an archive with all it needs
HADOOP = "3.5.0"
HADOOP_PARTS = ("api", "runtime", "minicluster")  # the last has NameNode and DataNode, shaded
SPARK_KAFKA = "4.2.0"  # the newest on the index; it runs in PySpark 4.3, too
IN_SPARK = "spark-kafka"
OUT = Path(__file__).resolve().parent.parent / "libs/embedded/copycat_embedded/jars.lock.toml"
LOGGING = (
    f"org.apache.logging.log4j:log4j-api:{LOG4J}",
    f"org.apache.logging.log4j:log4j-core:{LOG4J}",
    f"org.apache.logging.log4j:log4j-slf4j-impl:{LOG4J}",  # without a binding both programs are silent
)
ROOTS = {
    "broker": (f"org.apache.kafka:kafka_2.13:{KAFKA}",),
    "connect": tuple(
        f"org.apache.kafka:connect-{part}:{STAND_INS.get(part, KAFKA)}"
        for part in ("runtime", "json", "transforms", "file")
    ),
    "mirror": tuple(
        f"org.apache.kafka:connect-{part}:{STAND_INS.get(part, KAFKA)}"
        for part in ("runtime", "json", "transforms", "mirror")
    ),
    OLD_CONNECT: tuple(
        f"org.apache.kafka:connect-{part}:{OLD_KAFKA}" for part in ("runtime", "file", "json", "transforms")
    ),
    "jdbc": (f"org.postgresql:postgresql:{POSTGRESQL_DRIVER}",),
    "hdfs": tuple(f"org.apache.hadoop:hadoop-client-{part}:{HADOOP}" for part in HADOOP_PARTS),
    IN_SPARK: (f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK_KAFKA}",),
}
UNUSED = {
    "broker": {
        "caffeine",
        "commons-beanutils",
        "commons-collections",
        "commons-digester",
        "commons-logging",
        "jackson-dataformat-csv",
        "jackson-dataformat-yaml",
        "jackson-datatype-jdk8",
        "kafka-tools-api",
        "scala-reflect",
        "snakeyaml",
    },
    "connect": set[str](),
    "mirror": set[str](),
    OLD_CONNECT: {"slf4j-log4j12", "slf4j-reload4j"},
    "jdbc": {"checker-qual"},
    "hdfs": {"jsr305", "snappy-java"},
    IN_SPARK: {  # PySpark has them
        "hadoop-client-runtime",
        "jsr305",
        "lz4-java",
        "scala-library",
        "scala-parallel-collections_2.13",
        "slf4j-api",
        "snappy-java",
        "spark-tags_2.13",
    },
}


def resolve(context: MavenContext, name: str) -> list[str]:
    """Name the coordinates a set consists of, its own jars first."""
    roots = [
        Dependency(context.project(group, artifact).at_version(version).artifact())
        for group, artifact, version in (root.split(":") for root in ROOTS[name])
    ]
    inputs, transitive = context.resolver.resolve(roots)
    found = [
        f"{jar.groupId}:{jar.artifactId}:{jar.version}"
        for jar in (*inputs, *transitive)
        if jar.artifactId not in UNUSED[name]
    ]
    logging = () if name == IN_SPARK else LOGGING
    last = [f"org.apache.kafka:kafka-clients:{STAND_INS[BEHIND[name]]}"] if name in BEHIND else []
    return [
        *sorted(
            {*found, *logging},
            key=lambda coordinate: (not coordinate.startswith("org.apache.kafka"), coordinate),
        ),
        *last,
    ]


def sha256(context: MavenContext, coordinate: str) -> str:
    """Fetch one jar or archive and hash it."""
    group, artifact, packaging, classifier, version = Jar(coordinate, "").parts
    path = context.project(group, artifact).at_version(version).artifact(classifier, packaging).resolve()
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def main() -> None:
    """Resolve every set, hash every jar, write the lock."""
    with tempfile.TemporaryDirectory() as folder:
        context = MavenContext(repo_cache=Path(folder), timeout=60)
        sets = {name: resolve(context, name) for name in ROOTS} | {"registry": [REGISTRY]}
        coordinates = sorted({jar for jars in sets.values() for jar in jars})
        with ThreadPoolExecutor(8) as pool:
            hashes = dict(
                zip(coordinates, pool.map(lambda jar: sha256(context, jar), coordinates), strict=True)
            )
    lines = [
        "# Written by tools/lock_jars.py: the jars each program runs on, and what their bytes hash to.",
        "[sets]",
    ]
    for name, jars in sets.items():
        lines += [f"{name} = [", *(f'    "{jar}",' for jar in jars), "]"]
    lines += ["", "[sha256]", *(f'"{jar}" = "{hashes[jar]}"' for jar in coordinates), ""]
    OUT.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
