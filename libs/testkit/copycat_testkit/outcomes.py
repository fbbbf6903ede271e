"""What faults came to: until when all was well again, kept as JSON and shown as a table in a page."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any


class Steady:
    """Whether a condition has held for some seconds without a break."""

    def __init__(self, condition: Callable[[], bool], seconds: float) -> None:
        """Nothing was asked yet: it counts from the first time that the condition holds."""
        self.since = 0.0
        """Since when it holds, of `time.monotonic`; 0 while it does not."""
        self._condition = condition
        self._seconds = seconds

    def __call__(self) -> bool:
        """Ask the condition; returns whether it has held for so long."""
        if not self._condition():
            self.since = 0.0
        elif not self.since:
            self.since = time.monotonic()
        return bool(self.since) and time.monotonic() - self.since > self._seconds


def keep_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write all rows that were measured so far into a JSON file, in place of what it had."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(list(rows), indent=1) + "\n")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_between(page: Path, name: str, text: str) -> None:
    """Replace what stands between the markers `<!-- name -->` and `<!-- /name -->` of a page.

    Raises:
        ValueError: The page has no such markers.
    """
    before = page.read_text()
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    after, found = pattern.subn(lambda marks: f"{marks[1]}{text}\n{marks[2]}", before)
    if not found:
        raise ValueError(f"{page} has no markers of {name}")
    page.write_text(after)
