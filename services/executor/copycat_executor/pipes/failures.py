"""What author code raised, as a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from copycat_connect.error_text import bounded, said_by, text_of
from copycat_connect.errors import CopycatError
from copycat_connect.failure_kind import FailureKind, kind_of

from copycat_executor.pipeline.records.trace import trace_text
from copycat_executor.pipes.messages import Failure

Declared = Mapping[type[BaseException], FailureKind]
"""What a plugin says of exceptions (`PluginSpec.failures`)."""


def failure(error: BaseException, scrub: Callable[[str], str], declared: Declared = {}) -> Failure:  # noqa: B006 - read only
    """Describe an error; `scrub` takes secrets out of its texts, `declared` is what its plugin says of it.

    An error that carries a code of ours keeps it: the service answers with it.
    """

    def shown(text: object) -> str:
        return shown_text(text, scrub)

    trace, kind = shown(trace_text(error)), kind_of(error, declared) or FailureKind.BUG
    if isinstance(error, CopycatError):
        fields = {name: shown(value) for name, value in error.fields.items()}
        return Failure(shown(error.message), trace, error.code, fields, kind)
    return Failure(shown(said_by(error)), trace, kind=kind)


def shown_text(text: object, scrub: Callable[[str], str]) -> str:
    """Return what an author says as it may be written: he may pass anything; `scrub` takes secrets out."""
    return bounded(scrub(text_of(text)))
