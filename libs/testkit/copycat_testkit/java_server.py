"""A server in a Java program: waits until it answers over HTTP."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from pathlib import Path

from copycat_connect.errors import CopycatError
from copycat_embedded.jvm import JavaProgram

POLL_SECONDS = 0.05


def wait_answering(program: JavaProgram, url: str, seconds: float, name: str, log: Path) -> None:
    """Wait until an address is answered with 200; a program that does not come to it is killed.

    Raises:
        CopycatError: It ended or was not ready in time; the text ends with its last lines.
    """
    deadline = time.monotonic() + seconds
    while program.exit_code() is None and time.monotonic() < deadline:
        if _answers(url):
            return
        time.sleep(POLL_SECONDS)
    ended = program.exit_code()
    program.kill()
    what = f"was not ready within {seconds:.0f} s" if ended is None else f"ended with code {ended}"
    raise CopycatError(f"{name} {what}. Its log {log} ends with:\n{program.last_lines()}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
