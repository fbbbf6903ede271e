"""The packages in uv.lock: what guards them, what their index has withdrawn, which vulnerabilities are known.

The index's own interface says what it has withdrawn (PEP 691, 700 and 792), so that check works wherever
packages can be installed. `uv audit` asks OSV, which has PyPA's and GitHub's advisories.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx2

from tools.audit.findings import Answer, Finding, NoDataError

ROOT: Final = Path(__file__).resolve().parents[2]
UV_LOCK: Final = ROOT / "uv.lock"
INDEX_JSON: Final = "application/vnd.pypi.simple.v1+json"
_SHA256: Final = re.compile(r"sha256:[0-9a-f]{64}")
#: Sources of the workspace's own packages.
_OURS: Final = ("editable", "virtual")
_MAX_CONCURRENT_REQUESTS: Final = 8
_INDEX_SECONDS: Final = 20.0
_UV_SECONDS: Final = 60.0
#: What a project's status says of all of its releases; `archived` and `deprecated` are no danger.
_BAD_STATUS: Final = "quarantined"


@dataclass(frozen=True, slots=True)
class Release:
    """One release of a package that the lock file took from an index."""

    name: str
    version: str
    index: str
    hashes: dict[str, str]
    """What each of its files hashes to, by the file's name."""


def releases(lock: Path = UV_LOCK) -> tuple[Release, ...]:
    """Return what comes from an index, by name."""
    return tuple(
        Release(entry["name"], entry["version"], entry["source"]["registry"], dict(_files(entry)))
        for entry in _packages(lock)
        if "registry" in entry["source"]
    )


def _packages(lock: Path) -> list[dict[str, Any]]:
    return list(tomllib.loads(lock.read_text("utf-8"))["package"])


def _files(entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for file in (*entry.get("wheels", ()), *filter(None, [entry.get("sdist")])):
        yield file["url"].rpartition("/")[2], file.get("hash", "")


def check_lock(lock: Path = UV_LOCK) -> Answer:
    """Find what no hash guards: a file without one, a source that is no index."""
    findings: list[Finding] = []
    packages = _packages(lock)
    for entry in packages:
        name, version, source = entry["name"], entry["version"], entry["source"]
        if not {"registry", *_OURS} & set(source):
            findings.append(Finding(name, version, "source", f"from {source}, no index"))
        elif "registry" in source:
            bare = [file for file, value in _files(entry) if not _SHA256.fullmatch(value)]
            findings += [Finding(name, version, "hash", f"{file} has no sha256") for file in bare]
    return Answer(len(packages), tuple(findings))


def check_index(asked: Sequence[Release] | None = None) -> Answer:
    """Find releases that their index has yanked, removed, quarantined or changed.

    Raises:
        NoDataError: The index cannot be reached, or does not speak JSON.
    """
    locked = releases() if asked is None else asked
    with (
        httpx2.Client(
            headers={"Accept": INDEX_JSON}, timeout=_INDEX_SECONDS, follow_redirects=True
        ) as client,
        ThreadPoolExecutor(_MAX_CONCURRENT_REQUESTS) as pool,
    ):
        pages = list(pool.map(lambda release: _page(client, release), locked))
    found = (
        finding for release, page in zip(locked, pages, strict=True) for finding in withdrawn(release, page)
    )
    return Answer(len(locked), tuple(found))


def _page(client: httpx2.Client, release: Release) -> dict[str, Any]:
    """Return the index's page of a package; an empty one if the index does not know it any more."""
    try:
        answer = client.get(f"{release.index.rstrip('/')}/{release.name}/")
    except httpx2.HTTPError as error:
        raise NoDataError(
            f"the package index does not answer ({type(error).__name__} for {release.name})"
        ) from error
    if answer.status_code == httpx2.codes.NOT_FOUND:
        return {}
    if answer.status_code != httpx2.codes.OK or INDEX_JSON not in answer.headers.get("content-type", ""):
        raise NoDataError(
            f"the package index answers {release.name} with {answer.status_code} and no JSON of PEP 691"
        )
    return dict(answer.json())


def withdrawn(release: Release, page: dict[str, Any]) -> Iterator[Finding]:
    """Yield what a page of the index says against a release, each reason once."""
    status = page.get("project-status") or {}
    if status.get("status") == _BAD_STATUS:
        yield Finding(release.name, release.version, _BAD_STATUS, status.get("reason") or "by the index")
    listed = {file["filename"]: file for file in page.get("files", ()) if file["filename"] in release.hashes}
    if not listed:
        yield Finding(release.name, release.version, "removed", "the index has none of its files any more")
    reasons = {str(file["yanked"]) for file in listed.values() if file.get("yanked")}
    for reason in sorted(reasons):
        text = "without a reason" if reason == "True" else reason
        yield Finding(release.name, release.version, "yanked", text)
    for name, file in sorted(listed.items()):
        there = file.get("hashes", {}).get("sha256")
        if there and f"sha256:{there}" != release.hashes[name]:
            yield Finding(release.name, release.version, "hash", f"{name} is another file than was locked")


def check_vulnerabilities(service_url: str, project: Path = ROOT) -> Answer:
    """Have uv ask about all that the lock file may install.

    Raises:
        NoDataError: The service cannot be reached, or this uv knows no `audit`.
    """
    uv = shutil.which("uv") or str(ROOT / "build/uv/bin/uv")
    command = [
        *(uv, "audit", "--frozen", "--output-format", "json", "--service-url", service_url),
        *("--preview-features", "audit-command,json-output"),
    ]
    try:
        done = subprocess.run(
            command,
            cwd=project,
            env={**os.environ, "UV_HTTP_RETRIES": "1"},
            capture_output=True,
            text=True,
            timeout=_UV_SECONDS,
            check=False,
        )
        report = json.loads(done.stdout)
        findings = tuple(_vulnerability(known) for known in report["vulnerabilities"])
        return Answer(report["summary"]["audited_packages"], findings)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoDataError(f"uv cannot be run: {error}") from error
    except (ValueError, KeyError) as error:
        raise NoDataError(f"uv audit: {' '.join(done.stderr.split())[:300]}") from error


def _vulnerability(known: dict[str, Any]) -> Finding:
    return Finding(
        known["dependency"]["name"],
        known["dependency"]["version"],
        str(known["id"]),
        str(known.get("summary") or known.get("description") or "").split("\n")[0],
        tuple(map(str, known.get("aliases") or ())),
        tuple(map(str, known.get("fix_versions") or ())),
    )
