"""Copy a real file through Kafka into another one, and compare them byte for byte: `make demo`.

Starts a whole Copycat on a free port with a data directory of its own, creates a file source and a file sink
over REST, waits until every line has arrived, stops everything and sees that nothing is left. Exits 0
only when all of it is so.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from copycat_cli.api.statuses import get_statuses
from copycat_cli.configuration import create
from copycat_cli.connector_files import ConnectorFile
from copycat_cli.errors import CliError
from copycat_cli.rest import Rest
from copycat_cli.waiting import summary
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

ROOT = Path(__file__).resolve().parent.parent
READY = "Copycat is ready: "
LINES = 5_000
START_SECONDS = 180.0
COPY_SECONDS = 120.0
STOP_SECONDS = 60.0
STRING = "org.apache.kafka.connect.storage.StringConverter"
console = Console(soft_wrap=True, highlight=False)


class DemoError(Exception):
    """The demo did not do what it promises; the text says what, and where to look."""


def real_text() -> bytes:
    """Return at least 5,000 lines that are in this clone: the lock file, and sources until it is enough."""
    text = b""
    files = [
        ROOT / "uv.lock",
        *sorted((ROOT / "proto").rglob("*.proto")),
        *sorted((ROOT / "libs").rglob("*.py")),
    ]
    for file in files:
        content = file.read_bytes()
        if b"\r" not in content:  # a file source ends a line there too, a file sink writes newlines only
            text += content if content.endswith(b"\n") else content + b"\n"
        if text.count(b"\n") >= LINES:
            return text
    raise DemoError(f"This clone has fewer than {LINES} lines of text to copy.")


@contextmanager
def running(data: Path, output: Path) -> Iterator[str]:
    """Run Copycat and give the root of its REST interface; stops it, and sees that nothing is left."""
    copycat = str(Path(sys.executable).with_name("copycat"))
    command = [copycat, "up", "--rest-port", "0", "--data-dir", str(data)]
    with output.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    family = [psutil.Process(process.pid)]
    try:
        with console.status("Starting Copycat with an embedded Kafka"):
            url = wait(lambda: root_in(process, output), START_SECONDS, "Copycat was not ready")
        family += family[0].children(recursive=True)
        yield url
    finally:
        with console.status("Stopping Copycat"):
            stop(process)
            _, left = psutil.wait_procs(family[1:], timeout=10)
    if process.returncode != 0 or left:
        pids = [each.pid for each in left]
        raise DemoError(f"Copycat ended with code {process.returncode} and left {pids} running.")


def root_in(process: subprocess.Popen[bytes], output: Path) -> str:
    """Return the root of the REST interface once Copycat has said it; empty before."""
    said = output.read_text(errors="replace")
    if process.poll() is not None:
        raise DemoError(f"Copycat did not start: {said.strip()}")
    return next((line.removeprefix(READY) for line in said.splitlines() if line.startswith(READY)), "")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ask Copycat to drain; end it by force when it does not."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait(answer: Callable[[], str], seconds: float, otherwise: str) -> str:
    """Wait until there is an answer."""
    deadline = time.monotonic() + seconds
    while not (found := answer()):
        if time.monotonic() > deadline:
            raise DemoError(f"{otherwise} within {seconds:.0f} s.")
        time.sleep(0.05)
    return found


def connector(name: str, plugin: str, config: dict[str, str]) -> ConnectorFile:
    """Return a connector of one task whose records are lines."""
    converters = {"key.converter": STRING, "value.converter": STRING}
    whole = {"name": name, "connector.class": plugin, "tasks.max": "1", **converters, **config}
    return ConnectorFile(Path(f"{name}.json"), name, whole)


def copy(rest: Rest, source: Path, target: Path, total: int) -> float:
    """Copy the file through a topic; returns the seconds from the first request to the last line."""
    began = time.monotonic()
    create(rest, connector("demo-source", "FileStreamSource", {"file": str(source), "topic": "demo-lines"}))
    create(rest, connector("demo-sink", "FileStreamSink", {"file": str(target), "topics": "demo-lines"}))
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        bar = progress.add_task("lines arrived", total=total)

        def arrived() -> str:
            lines = target.read_bytes().count(b"\n") if target.exists() else 0
            progress.update(bar, completed=lines)
            return "all" if lines >= total else ""

        wait(arrived, COPY_SECONDS, "Not every line arrived")
    return time.monotonic() - began


def states(rest: Rest) -> str:
    """Return what the connectors say of themselves."""
    try:
        return "; ".join(map(summary, get_statuses(rest, ())))
    except CliError as error:
        return f"unknown ({error})"


def explain(data: Path) -> None:
    """Show the last lines of every log."""
    for log in sorted((data / "logs").glob("*.log")):
        if lines := log.read_text(errors="replace").splitlines()[-8:]:
            console.print(f"--- {log.name}", *lines, sep="\n", markup=False)


def demo(folder: Path) -> str:
    """Do it all in a folder; returns the verdict."""
    source, target = folder / "source.txt", folder / "copy.txt"
    text = real_text()
    source.write_bytes(text)
    total = text.count(b"\n")
    with running(folder / "data", folder / "output.txt") as url:
        console.print(f"Copycat runs at {url}; copying {total:,} lines, {len(text):,} bytes")
        rest = Rest(url)
        try:
            seconds = copy(rest, source, target, total)
        except (DemoError, CliError) as error:
            raise DemoError(f"{error} Connectors: {states(rest)}") from error
    if target.read_bytes() != text:
        raise DemoError(f"The copy differs: {target.stat().st_size} bytes instead of {len(text)}.")
    return (
        f"PASSED: {total:,} lines through Kafka and back, byte for byte the same, in {seconds:.1f} s "
        f"({total / seconds:,.0f} lines/s with the start of both connectors); nothing left running"
    )


def main() -> int:
    """Run the demo."""
    with tempfile.TemporaryDirectory(prefix="copycat-demo-") as folder:
        try:
            console.print(demo(Path(folder)), style="green")
        except DemoError as error:
            explain(Path(folder) / "data")
            console.print(f"FAILED: {error}", style="red", markup=False)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
