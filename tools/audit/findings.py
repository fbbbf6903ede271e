"""What a check of the audit answers, and which findings somebody has judged and accepted: `accepted.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

ACCEPTED: Final = Path(__file__).with_name("accepted.toml")


class NoDataError(Exception):
    """What is known could not be asked for; the text says why. It says nothing about the packages."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing that is known against one package."""

    package: str
    version: str
    id: str
    """The number it is known by, or a word (`yanked`, `removed`, `quarantined`, `hash`, `update`)."""
    text: str
    aliases: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    """Versions without it, where there are any."""

    def __str__(self) -> str:
        """Return the finding on one line."""
        names = ", ".join((self.id, *self.aliases))
        fixed = f"; fixed in {', '.join(self.fixed)}" if self.fixed else ""
        return f"{self.package} {self.version}: {names}: {self.text}{fixed}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check found."""

    asked: int
    """How many packages it asked about."""
    findings: tuple[Finding, ...] = ()

    def __add__(self, other: Answer) -> Answer:
        """Return both answers as one."""
        return Answer(self.asked + other.asked, self.findings + other.findings)


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
        """Say whether a finding is accepted today."""
        named = self.package == finding.package and self.id in (finding.id, *finding.aliases)
        return named and today <= self.until


def read_accepted(file: Path = ACCEPTED) -> tuple[Accepted, ...]:
    """Return what the file accepts.

    Raises:
        ValueError: An entry lacks a field, has one too many, or gives no reason.
    """
    entries = tomllib.loads(file.read_text("utf-8")).get("accepted", [])
    fields = {"package", "id", "reason", "until"}
    for entry in entries:
        if set(entry) != fields or not str(entry["reason"]).strip() or type(entry["until"]) is not date:
            raise ValueError(f"{file.name}: each entry has {', '.join(sorted(fields))}, until a day: {entry}")
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
