"""Password: a setting that is never printed."""

from __future__ import annotations

from dataclasses import dataclass, field

HIDDEN = "[hidden]"


@dataclass(frozen=True, slots=True)
class Password:
    """A secret; its text is `[hidden]` wherever it is printed."""

    value: str = field(repr=False)
    """The secret itself."""

    def __str__(self) -> str:
        return HIDDEN
