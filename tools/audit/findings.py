"""What a check answers: findings, or why it cannot say."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Answer:
    """What a check found."""

    asked: int
    """How many packages it asked about."""
    findings: tuple[Finding, ...] = ()
