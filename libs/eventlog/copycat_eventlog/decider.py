"""The shape of an event-sourced service: one pure decision and one pure fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

C = TypeVar("C")
E = TypeVar("E")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Decider(Generic[C, E, S]):
    """What makes one event-sourced service different from another."""

    initial: S
    """The state of an empty log. States are immutable: a snapshot of one is a reference to it."""
    decide: Callable[[C, S], tuple[E, ...]]
    """Raises a CopycatError to refuse; `()` means nothing to do."""
    evolve: Callable[[S, E], S]
    """Total: never raises, never refuses."""
