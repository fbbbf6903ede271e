"""kcat, of Debian: the shortest way between a file and a topic, on the client library that Copycat uses."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from copycat_embedded.places import user_cache
from copycat_testkit.debian import one_at_a_time, unpack
from copycat_testkit.eventually import wait

from tools.bench.load import Topics
from tools.bench.processes import Moved, Stretch

_PACKAGES: Final = ("kcat", "librdkafka1", "libyajl2")
_PACE: Final = 0.01


class Kcat:
    """Runs kcat against one broker; each run is a process of its own."""

    def __init__(self, bootstrap: str, topics: Topics) -> None:
        self._bootstrap = bootstrap
        self._topics = topics

    def file_to_topic(self, source: Path, count: int, settings: Mapping[str, str]) -> Moved:
        """Return how fast a file of `count` lines reaches a new topic, with these settings of the client."""
        topics, name = self._topics, f"bench-kcat-{time.time_ns()}"
        topics.create(name)
        options = [part for each in settings.items() for part in ("-X", "=".join(each))]
        process = self._start("-P", "-t", name, *options, "-l", str(source))
        stretch = Stretch(process.pid)
        started = wait(lambda: topics.end(name) > 0, 60, "no record arrived", _PACE)
        first = topics.end(name)
        ended = wait(lambda: topics.end(name) >= count, 300, "not all records arrived", _PACE)
        moved = stretch.moved(count, (count - first) / (ended - started))
        process.wait(60)
        topics.delete(name)
        return moved

    def topic_to_file(self, topic: str, count: int, length: int) -> Moved:
        """Return how fast a topic of `count` values reaches a new file; a line has `length` bytes."""
        with tempfile.NamedTemporaryFile(prefix="bench-kcat-") as file:
            target = Path(file.name)
            process = self._start(
                "-C", "-t", topic, "-o", "beginning", "-c", str(count), "-q", output=file.fileno()
            )
            stretch = Stretch(process.pid)
            started = wait(lambda: target.stat().st_size > 0, 60, "nothing was written", _PACE)
            first = target.stat().st_size
            enough = count * length - 1_000_000
            ended = wait(lambda: target.stat().st_size >= enough, 300, "not all was written", _PACE)
            size = target.stat().st_size
            moved = stretch.moved(size / length, (size - first) / length / (ended - started))
            process.wait(60)
        return moved

    def _start(self, *options: str, output: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        program, environment = _program()
        return subprocess.Popen(
            [program, "-b", self._bootstrap, *options], stdout=output, env={**os.environ, **environment}
        )


@cache
def _program() -> tuple[str, Mapping[str, str]]:
    """Return kcat, the one on the path or Debian's, and where its libraries lie."""
    if (found := shutil.which("kcat")) is not None:
        return found, {}
    folder = user_cache() / "kcat"
    with one_at_a_time("kcat-unpack"):
        if not folder.exists():
            half = folder.with_suffix(".part")
            shutil.rmtree(half, ignore_errors=True)
            for package in _PACKAGES:
                unpack(package, half)
            half.rename(folder)
    [library] = {str(each.parent) for each in folder.glob("usr/lib/*/librdkafka.so.1")}
    return str(folder / "usr/bin/kcat"), {"LD_LIBRARY_PATH": library}
