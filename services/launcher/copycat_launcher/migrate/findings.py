"""What was found: a cluster of Kafka Connect as it was read, and what is said about it.

No secret value of a configuration is said.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum

from copycat_cli.configuration import HIDDEN, is_secret
from copycat_connect.cluster import Config
from copycat_connect.config.secrets import Secrets


@dataclass(frozen=True, slots=True)
class FoundPositions:
    """How far a connector has come: source offsets, or the positions of a sink's consumer group."""

    count: int | None
    """Partitions that have one; None where nobody can say."""
    unknown_because: str = ""
    """Why nobody can say."""


@dataclass(frozen=True, slots=True)
class FoundConnector:
    """One connector as the other cluster has it."""

    name: str
    config: Config = field(repr=False)
    """As it was written, placeholders and passwords included."""
    state: str
    """RUNNING, PAUSED, STOPPED, FAILED ...; empty where it has reported nothing."""
    task_states: tuple[str, ...]
    """Of its tasks, in their order."""
    positions: FoundPositions


@dataclass(frozen=True, slots=True)
class FoundCluster:
    """A cluster of Kafka Connect."""

    source: str
    """Where it was read from, for people."""
    connectors: tuple[FoundConnector, ...]
    """By name."""
    notes: tuple[str, ...] = ()
    """What could not be read and does not stop the judgement."""


class MigrationVerdict(IntEnum):
    """How it would run here, the best first; the worst of several counts."""

    RUNS = 0
    """As it is."""
    DIFFERS = 1
    """It runs, and something is other than there."""
    REFUSED = 2
    """All it needs is here, but its configuration is not accepted."""
    MISSING = 3
    """Something that it names is not here."""

    @property
    def word(self) -> str:
        """What people and programs read."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know, with what to do about it."""

    verdict: MigrationVerdict
    """What it alone leads to; RUNS for what is only to be known."""
    key: str
    """The key of the configuration that it is about; empty where it is about none."""
    text: str
    """What is so."""
    fix: str
    """What to do."""


def worst(verdicts: Iterable[MigrationVerdict]) -> MigrationVerdict:
    """Return the one that counts; RUNS without any."""
    return max(verdicts, default=MigrationVerdict.RUNS)


#: A login within an address, or a value that is made of settings.
_LOGIN = re.compile(r"//[^/\s:]*+:[^/\s@]*+@|(?:password|passwd|secret|token)\s*=", re.IGNORECASE)


def hide(findings: Iterable[Finding], config: Config, declared: Collection[str] = ()) -> list[Finding]:
    """Return findings without any secret value of a configuration in their texts.

    Args:
        findings: What is said.
        config: The configuration it is said about.
        declared: Keys that plugins declare as passwords.
    """
    secret = _secret(config, declared)
    everywhere = Secrets.of(dict.fromkeys(secret.values(), HIDDEN))

    def clean(finding: Finding) -> Finding:
        # In the text about its own key a value is replaced however short it is.
        own = secret.get(finding.key)
        texts = [
            everywhere.scrub(text if own is None else text.replace(own, HIDDEN))
            for text in (finding.text, finding.fix)
        ]
        return replace(finding, text=texts[0], fix=texts[1])

    return [clean(finding) for finding in findings]


def hide_in(text: str, config: Config, declared: Collection[str] = ()) -> str:
    """Return a text about a configuration without any of its secret values."""
    return Secrets.of(dict.fromkeys(_secret(config, declared).values(), HIDDEN)).scrub(text)


def _secret(config: Config, declared: Collection[str]) -> dict[str, str]:
    return {
        key: value
        for key, value in config.items()
        if value and (is_secret(key, value, declared) or _LOGIN.search(value))
    }
