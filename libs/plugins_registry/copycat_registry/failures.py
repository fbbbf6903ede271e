"""What went wrong between a converter and its registry: what it means for the task, and what to do."""

from __future__ import annotations

from copycat_connect.errors import ConfigError, CopycatError, DataError, RetriableError

from copycat_registry.settings import BASIC_SOURCE, BASIC_USER_INFO, LATEST_STRICT, URL

_BUSY = frozenset({408, 429, 500, 502, 503, 504})
_FIXES = {
    404: (
        "Register it there, set auto.register.schemas=true so that it is registered when it is written, or "
        "check that schema.registry.url and the subject name strategy are those the data was written with"
    ),
    409: (
        "Change the records so that their schema is compatible with the versions the subject has, or lower "
        "the subject's compatibility level in the registry"
    ),
    422: "The registry finds the schema invalid: look at names and defaults of its fields",
}


def refused(status: int, text: str, *, topic: str, subject: str, what: str) -> CopycatError:
    """Return the error for an answer that is no success."""
    said = f"Cannot {what} for topic {topic}: the registry answered {status}, {text!r}"
    if status in _BUSY:
        return RetriableError(f"{said}. It may answer later.", topic=topic, subject=subject)
    if status in (401, 403):
        fix = f"Check {BASIC_SOURCE} and {BASIC_USER_INFO}, and what that user may do there"
        return ConfigError(f"{said}. {fix}.", topic=topic, subject=subject)
    fix = _FIXES.get(status, f"Check that {URL} is the address of a schema registry")
    return DataError(f"{said}. {fix}.", topic=topic, subject=subject)


def away(error: Exception, urls: str, *, topic: str, what: str) -> RetriableError:
    """Return the error for a registry that cannot be reached; the addresses hold no credentials."""
    message = (
        f"Cannot {what} for topic {topic}: no registry answers at {urls} ({type(error).__name__}). "
        f"Check {URL}, and that the registry runs."
    )
    return RetriableError(message, topic=topic)


def something_else(urls: str, *, topic: str, what: str) -> DataError:
    """Return the error for an answer that is not a registry's."""
    message = (
        f"Cannot {what} for topic {topic}: what answers at {urls} is no schema registry. "
        f"Set {URL} to the address of one, with its path."
    )
    return DataError(message, topic=topic)


def other_format(topic: str, schema_id: int, found: str | None, wanted: str) -> DataError:
    """Return the error for a schema of another format than the converter's."""
    message = (
        f"Schema {schema_id} of a record of topic {topic} is of format {found}, this converter reads "
        f"{wanted}. Set the converter of that format."
    )
    return DataError(message, topic=topic)


def not_framed(topic: str, data: bytes, *, is_key: bool) -> DataError:
    """Return the error for bytes that do not begin with a schema id."""
    side = "key" if is_key else "value"
    found = f"begins with 0x{data[:1].hex()}" if len(data) > 4 else f"is {len(data)} bytes long"
    message = (
        f"Unknown magic byte! A {side} of topic {topic} {found}: a schema id stands behind a byte 0x00 and "
        f"is four bytes long. Set {side}.converter to the one that wrote it, e.g. JsonConverter for JSON."
    )
    return DataError(message, topic=topic)


def misfit(topic: str, subject: str, reason: str) -> DataError:
    """Return the error for a schema that the latest version of its subject could not read."""
    message = (
        f"Cannot write records of topic {topic} with the latest version of subject {subject}, which could "
        f"not read what their own schema writes: {reason}. Register a version that can, or set "
        f"{LATEST_STRICT}=false."
    )
    return DataError(message, topic=topic, subject=subject)
