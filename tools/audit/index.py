"""Whether the package index has withdrawn what the lock file asks for: yanked, removed, quarantined, changed.

The index's own interface says it (PEP 691, 700 and 792), so this works wherever packages can be installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import httpx2

from tools.audit.findings import Answer, Finding, NoDataError
from tools.audit.locks import Release, releases

JSON: Final = "application/vnd.pypi.simple.v1+json"
AT_ONCE: Final = 8
SECONDS: Final = 20.0
#: What a project's status says of all of its releases; `archived` and `deprecated` are no danger.
BAD_STATUS: Final = "quarantined"


def check(asked: Sequence[Release] | None = None) -> Answer:
    """Ask about each release.

    Raises:
        NoDataError: The index cannot be reached, or does not speak JSON.
    """
    locked = releases() if asked is None else asked
    with (
        httpx2.Client(headers={"Accept": JSON}, timeout=SECONDS, follow_redirects=True) as client,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        pages = list(pool.map(lambda release: _page(client, release), locked))
    found = (finding for release, page in zip(locked, pages, strict=True) for finding in judge(release, page))
    return Answer(len(locked), tuple(found))


def _page(client: httpx2.Client, release: Release) -> dict[str, Any]:
    """Return the index's page of a package; an empty one if the index does not know it any more."""
    try:
        answer = client.get(f"{release.index.rstrip('/')}/{release.name}/")
    except httpx2.HTTPError as error:
        message = f"the package index does not answer ({type(error).__name__} for {release.name})"
        raise NoDataError(message) from error
    if answer.status_code == httpx2.codes.NOT_FOUND:
        return {}
    if answer.status_code != httpx2.codes.OK or JSON not in answer.headers.get("content-type", ""):
        message = f"the package index answers {release.name} with {answer.status_code} and no JSON of PEP 691"
        raise NoDataError(message)
    return dict(answer.json())


def judge(release: Release, page: dict[str, Any]) -> Iterator[Finding]:
    """Yield what a page of the index says against a release, each reason once."""
    status = page.get("project-status") or {}
    if status.get("status") == BAD_STATUS:
        yield Finding(release.name, release.version, BAD_STATUS, status.get("reason") or "by the index")
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
