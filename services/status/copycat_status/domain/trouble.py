"""What keeps an instance from moving, as its worker says; it is in no log."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from copycat_connect.cluster import Instance
from copycat_connect.error_text import shortened

MAX_TEXT_CHARACTERS = 500


class TroubleKind(Enum):
    """Kinds of trouble."""

    HANGS = "hangs"
    """A call has not returned for too long."""
    RETRIES = "retries"
    """A call fails and is tried again and again."""
    WAITS = "waits"
    """It waits: for a place, as nobody runs it yet, or for something that its source lacks."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an instance does not move."""

    instance: Instance
    kind: TroubleKind
    generation: int
    """Of the assignment it runs under."""
    since_ms: int
    """When it began, milliseconds since the epoch."""
    call: str = ""
    """What is called, e.g. `put`; empty for none."""
    tries: int = 0
    """How often that was tried since."""
    text: str = ""
    """Where it hangs, what the last try raised, or what it waits for."""
    lasting: bool = False
    """It does not pass by itself."""


def trouble_line(trouble: Trouble, now_ms: int) -> str:
    """Say in one line what is wrong, and for how long."""
    seconds = max(0, now_ms - trouble.since_ms) // 1000
    match trouble.kind:
        case TroubleKind.HANGS:
            said = f"{trouble.call} has not returned for {seconds} s: {trouble.text}"
        case TroubleKind.RETRIES:
            said = f"{trouble.call} fails, {_counted(trouble.tries)} in {seconds} s: {trouble.text}"
        case TroubleKind.WAITS:
            said = f"waits for {seconds} s: {trouble.text}"
    return shortened(said, MAX_TEXT_CHARACTERS)


def _counted(tries: int) -> str:
    return "1 try" if tries == 1 else f"{tries} tries"
