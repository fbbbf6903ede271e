"""Cross checks of delivery: exactly-once support, who places transaction boundaries, `delivery.guarantee`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from typing import TypeVar

from copycat_connect.config.delivery import Guarantee, chosen_guarantee, requires_exactly_once
from copycat_connect.config.framework_names import (
    DELIVERY_GUARANTEE,
    EXACTLY_ONCE_SUPPORT,
    TRANSACTION_BOUNDARY,
)
from copycat_connect.config.parsing import invalid_value
from copycat_connect.config.setting import ConfigValue
from copycat_connect.error_text import said_by
from copycat_connect.plugin.connectors import ExactlyOnceSupport

R = TypeVar("R")
Hook = Callable[[Mapping[str, str]], R]

_NO_API = (
    "The connector does not implement the API required for preflight validation of exactly-once source "
    'support. Its documentation may say what it gives; the value "requested" turns this check off.'
)
_UNSUPPORTED = "The connector does not support exactly-once semantics with the provided configuration."
_WORKER_OFF = "This worker does not have exactly-once source support enabled."
_NULL_BOUNDARIES = (
    "This connector has returned a null value from its canDefineTransactionBoundaries method, which is not "
    "permitted. The connector will be treated as if it cannot define its own transaction boundaries, and "
    f"cannot be configured with '{TRANSACTION_BOUNDARY}' set to 'connector'."
)
_NO_BOUNDARIES = (
    "The connector does not support connector-defined transaction boundaries with the given configuration. "
    "Please reconfigure it to use a different transaction boundary definition."
)
_OTHERWISE = f"use {Guarantee.AT_LEAST_ONCE.value}, or leave {DELIVERY_GUARANTEE} out"
_CONTRADICTION = (
    f"{EXACTLY_ONCE_SUPPORT} is required: use {Guarantee.EXACTLY_ONCE.value}, or leave one of both keys out"
)
_NO_WORKER = (
    "The worker does not allow it: a cluster needs exactly.once.source.support=enabled or no such setting, "
    f"and a standalone worker keeps offsets in a file, outside of Kafka's transactions; {_OTHERWISE}"
)
_ON_SPARK = (
    "Spark moves the records of this connector, and repeats what it has lost; "
    f"use {Guarantee.EXACTLY_ONCE.value} or {Guarantee.AT_LEAST_ONCE.value}, or leave "
    f"{DELIVERY_GUARANTEE} out"
)
_NOT_PROVED = (
    "The connector does not say that it supports exactly-once delivery with this configuration "
    f"(exactly_once_support must return SUPPORTED); {_OTHERWISE}"
)


def check_guarantee(
    raw: Mapping[str, str],
    found: MutableMapping[str, ConfigValue],
    support: Hook[ExactlyOnceSupport | None],
    *,
    possible: bool,
    on_spark: bool = False,
) -> None:
    """Add an error to what was found when `delivery.guarantee` cannot be given.

    Args:
        raw: The configuration.
        found: What was found.
        support: Asks the connector whether it supports exactly-once delivery.
        possible: Whether this worker allows it.
        on_spark: Whether Spark moves the connector's records.
    """
    value = found.get(DELIVERY_GUARANTEE)
    chosen = chosen_guarantee(raw)
    if value is None or value.errors or chosen is None:
        return
    if chosen is not Guarantee.EXACTLY_ONCE:
        if requires_exactly_once(raw):
            value.errors.append(_refused(chosen, _CONTRADICTION))
        elif on_spark and chosen is Guarantee.AT_MOST_ONCE:
            value.errors.append(_refused(chosen, _ON_SPARK))
        return
    if not possible:
        value.errors.append(_refused(chosen, _NO_WORKER))
    answer, problem = _ask(support, raw)
    if problem is not None:
        value.errors.append(problem)
    elif answer is not ExactlyOnceSupport.SUPPORTED:
        value.errors.append(_refused(chosen, _NOT_PROVED))


def _refused(chosen: Guarantee, reason: str) -> str:
    return invalid_value(DELIVERY_GUARANTEE, chosen.value, reason).message


def check_exactly_once(
    raw: Mapping[str, str],
    found: MutableMapping[str, ConfigValue],
    support: Hook[ExactlyOnceSupport | None],
    *,
    worker_enabled: bool,
) -> None:
    """Add errors to what was found when exactly-once delivery is required but not to be had."""
    value = found[EXACTLY_ONCE_SUPPORT]
    if value.errors or str(value.value).lower() != "required":
        return
    if not worker_enabled:
        value.errors.append(_WORKER_OFF)
    answer, problem = _ask(support, raw)
    if problem is not None:
        value.errors.append(problem)
    elif answer is None:
        value.errors.append(_NO_API)
    elif answer is not ExactlyOnceSupport.SUPPORTED:
        value.errors.append(_UNSUPPORTED)


def check_boundaries(
    raw: Mapping[str, str], found: MutableMapping[str, ConfigValue], can_define: Hook[bool | None]
) -> None:
    """Add an error to what was found when the connector is to place boundaries but cannot."""
    value = found[TRANSACTION_BOUNDARY]
    if value.errors or str(value.value).lower() != "connector":
        return
    answer, problem = _ask(can_define, raw)
    if problem is not None:
        value.errors.append(problem)
    elif answer is None:
        value.errors.append(_NULL_BOUNDARIES)
    elif not answer:
        value.errors.append(_NO_BOUNDARIES)


def _ask(hook: Hook[R], raw: Mapping[str, str]) -> tuple[R | None, str | None]:
    """Return the plugin's answer, or the text that says it failed."""
    try:
        return hook(raw), None
    except BaseException as error:  # the top of a call into a plugin: whatever it raises is its answer
        if said := said_by(error):
            return None, f"An unexpected error occurred during validation: {said}"
        return None, (
            "An unexpected error occurred during validation; please see the worker logs for more details."
        )
