"""What differs between two configurations, and how it is shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from copycat_connect.cluster import Config

from copycat_cli.hidden import HIDDEN, is_secret
from copycat_cli.output.blocks import Table


@dataclass(frozen=True, slots=True)
class Change:
    """One key that differs; None where it is missing."""

    key: str
    before: str | None
    after: str | None

    @property
    def sign(self) -> str:
        """`+` added, `-` removed, `~` changed."""
        return "+" if self.before is None else "-" if self.after is None else "~"


def changes(before: Config, after: Config, secret: Collection[str]) -> tuple[Change, ...]:
    """Return what differs, by key; values of secret keys are hidden."""
    return tuple(
        Change(key, _shown(key, before.get(key), secret), _shown(key, after.get(key), secret))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    )


def table_of(found: Collection[Change], before: str, after: str, title: str = "") -> Table:
    """Return a table of changes; `before` and `after` name the two sides."""
    rows = [(each.sign, each.key, each.before or "", each.after or "") for each in found]
    return Table(("", "KEY", before, after), rows, title)


def _shown(key: str, value: str | None, secret: Collection[str]) -> str | None:
    return HIDDEN if value is not None and is_secret(key, value, secret) else value
