"""The jars that Copycat runs, the embedded broker's and PySpark's: what guards them, what is known of it."""

from __future__ import annotations

import importlib.util
import re
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx2
from copycat_embedded.lock import LOCK, JarSet, locked

from tools.audit.findings import Answer, Finding, NoDataError

#: The other sets of the jar lock are peers that tests and benchmarks compare with; nobody gets them.
_SHIPPED: Final[tuple[JarSet, ...]] = ("broker",)
_ECOSYSTEM: Final = "Maven"
#: What OSV takes in one request.
_MAX_QUERIES: Final = 1000
_SECONDS: Final = 20.0
_SHA256: Final = re.compile(r"[0-9a-f]{64}")

Coordinate = tuple[str, str]
"""`group:artifact`, version."""


def check_lock(lock: Path = LOCK) -> Answer:
    """Find jars of the lock that no hash guards."""
    jars = tomllib.loads(lock.read_text("utf-8"))
    coordinates = sorted({jar for jars_of_set in jars["sets"].values() for jar in jars_of_set})
    bare = [each for each in coordinates if not _SHA256.fullmatch(jars["sha256"].get(each, ""))]
    parts = [each.rpartition(":") for each in bare]
    return Answer(
        len(coordinates),
        tuple(Finding(name, version, "hash", "the jar has no sha256") for name, _, version in parts),
    )


def check_vulnerabilities(service_url: str, jars: Sequence[Coordinate] | None = None) -> Answer:
    """Ask OSV about each jar.

    Raises:
        NoDataError: The service cannot be reached, or answers something else.
    """
    asked = sorted({*shipped_jars(), *spark_jars()} if jars is None else jars)
    try:
        with httpx2.Client(base_url=service_url, timeout=_SECONDS) as client:
            numbers = [
                _numbers(client, asked[start : start + _MAX_QUERIES])
                for start in range(0, len(asked), _MAX_QUERIES)
            ]
            hits = list(zip(asked, (each for batch in numbers for each in batch), strict=True))
            known = {number: _get(client, number) for number in {each for _, ids in hits for each in ids}}
    except (httpx2.HTTPError, ValueError, KeyError) as error:
        raise NoDataError(f"{service_url}: {error}") from error
    return Answer(
        len(asked), tuple(_finding(jar, known[number]) for jar, numbers in hits for number in numbers)
    )


def shipped_jars() -> Iterator[Coordinate]:
    """Yield the jars that come with Copycat."""
    for jar in locked(_SHIPPED):
        group, artifact, _, _, version = jar.parts
        yield f"{group}:{artifact}", version


def spark_jars() -> Iterator[Coordinate]:
    """Yield the jars inside the installed PySpark, and what these have taken into themselves."""
    found = importlib.util.find_spec("pyspark")
    for place in (found.submodule_search_locations or ()) if found else ():
        for jar in sorted(Path(place, "jars").glob("*.jar")):
            yield from embedded_artifacts(jar)


def embedded_artifacts(jar: Path) -> Iterator[Coordinate]:
    """Yield what a jar says it was made of; one that Maven did not make says nothing."""
    with zipfile.ZipFile(jar) as archive:
        for name in archive.namelist():
            if name.startswith("META-INF/maven/") and name.endswith("/pom.properties"):
                lines = archive.read(name).decode("utf-8", "replace").splitlines()
                properties = dict(line.split("=", 1) for line in lines if "=" in line)
                fields = [properties.get(key, "").strip() for key in ("groupId", "artifactId", "version")]
                if all(fields):
                    yield f"{fields[0]}:{fields[1]}", fields[2]


def _numbers(client: httpx2.Client, jars: Sequence[Coordinate]) -> list[list[str]]:
    queries = [{"package": {"ecosystem": _ECOSYSTEM, "name": name}, "version": each} for name, each in jars]
    answer = client.post("/v1/querybatch", json={"queries": queries}).raise_for_status().json()
    return [[known["id"] for known in result.get("vulns", ())] for result in answer["results"]]


def _get(client: httpx2.Client, number: str) -> dict[str, Any]:
    return dict(client.get(f"/v1/vulns/{number}").raise_for_status().json())


def _finding(jar: Coordinate, known: dict[str, Any]) -> Finding:
    name, version = jar
    text = known.get("summary") or known.get("details", "").split("\n")[0]
    aliases = tuple(known.get("aliases", ()))
    return Finding(name, version, known["id"], text, aliases, tuple(_fixed(name, known["affected"])))


def _fixed(name: str, affected: Iterable[dict[str, Any]]) -> Iterator[str]:
    for part in affected:
        if part.get("package", {}).get("name") == name:
            for span in part.get("ranges", ()):
                yield from (event["fixed"] for event in span["events"] if "fixed" in event)
