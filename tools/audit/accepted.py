"""Findings that somebody has judged and accepted for a while: `accepted.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from tools.audit.findings import Finding

FILE: Final = Path(__file__).with_name("accepted.toml")


@dataclass(frozen=True, slots=True)
class Accepted:
    """One finding that does not fail the audit until a day."""

    package: str
    id: str
    """The finding's number, or one of its aliases."""
    reason: str
    until: date
    """The last day on which the finding does not fail the audit."""

    def covers(self, finding: Finding, today: date) -> bool:
        """Tell whether a finding is accepted today."""
        named = self.package == finding.package and self.id in (finding.id, *finding.aliases)
        return named and today <= self.until


def read(file: Path = FILE) -> tuple[Accepted, ...]:
    """Return what the file accepts.

    Raises:
        ValueError: An entry lacks a field, has one too many, or gives no reason.
    """
    entries = tomllib.loads(file.read_text("utf-8")).get("accepted", [])
    fields = {"package", "id", "reason", "until"}
    for entry in entries:
        if set(entry) != fields or not str(entry["reason"]).strip() or type(entry["until"]) is not date:
            message = f"{file.name}: each entry has {', '.join(sorted(fields))}, until a day: {entry}"
            raise ValueError(message)
    return tuple(Accepted(**entry) for entry in entries)


def judge(
    findings: Iterable[Finding], accepted: Sequence[Accepted], today: date
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Part findings into those that count and those that are accepted today."""
    counting: list[Finding] = []
    covered: list[Finding] = []
    for finding in sorted(set(findings)):
        kept = any(entry.covers(finding, today) for entry in accepted)
        (covered if kept else counting).append(finding)
    return tuple(counting), tuple(covered)
