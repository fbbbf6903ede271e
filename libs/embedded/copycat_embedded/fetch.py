"""Fetch single jars through jgo, which knows the repository.

No transitive resolution (the lock says what is needed), and no trust in its checks, which only warn.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from copycat_connect.retry import RetryPolicy
from jgo.maven import MavenContext
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from copycat_embedded.errors import JarError
from copycat_embedded.lock import Jar

DOWNLOAD_RETRY = RetryPolicy(first=0.5, factor=2.0, give_up_after=3.0)
MAX_PARALLEL_DOWNLOADS = 8
TIMEOUT_SECONDS = 60


def fetch_all(jars: Sequence[Jar], into: Path, check: Callable[[Jar, Path], None]) -> None:
    """Download the jars side by side; each appears in `into` whole and checked, or not at all.

    Raises:
        JarError: A jar cannot be fetched, or `check` refused what came.
    """
    into.mkdir(parents=True, exist_ok=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as progress,
        ThreadPoolExecutor(MAX_PARALLEL_DOWNLOADS) as pool,
    ):
        bar = progress.add_task("Fetching Apache Kafka's jars", total=len(jars))
        downloads = [pool.submit(_fetch, jar, into, check) for jar in jars]
        try:
            for download in as_completed(downloads):
                download.result()
                progress.advance(bar)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # the first failure says it all
            raise


def _fetch(jar: Jar, into: Path, check: Callable[[Jar, Path], None]) -> None:
    with tempfile.TemporaryDirectory(dir=into, prefix=".fetching-") as folder:
        came = _download(jar, Path(folder))
        whole = Path(folder) / jar.file_name
        shutil.copyfile(came, whole)
        check(jar, whole)
        whole.replace(into / jar.file_name)  # atomic: another process may be fetching the same jar


def _download(jar: Jar, folder: Path) -> Path:
    group, artifact, packaging, classifier, version = jar.parts
    waits = DOWNLOAD_RETRY.waits()
    while True:
        attempt = tempfile.mkdtemp(dir=folder)  # jgo would take half a file of a former attempt for the whole
        context = MavenContext(repo_cache=Path(attempt), timeout=TIMEOUT_SECONDS)
        try:
            component = context.project(group, artifact).at_version(version)
            return Path(component.artifact(classifier, packaging).resolve())
        except (
            OSError,
            RuntimeError,
        ) as failure:  # requests' errors are OSErrors; "not found" is a RuntimeError
            wait = next(waits, None)
            if wait is None:
                raise JarError(
                    f"Cannot fetch {jar.coordinate}: {failure}. Check the network, or name a folder "
                    "that holds the jars in COPYCAT_JARS.",
                    jar=jar.coordinate,
                ) from failure
        time.sleep(wait)
