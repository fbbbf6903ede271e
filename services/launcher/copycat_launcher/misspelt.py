"""Worker properties that nobody reads: a warning for each, with the name that was probably meant."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping

from copycat_cli.advice import similar
from copycat_connect.config import ConfigDef, ConfigKey

from copycat_launcher.connect_keys import EVERYTHING, FREE_PREFIXES, HTTPS_PREFIXES
from copycat_launcher.roles import ROLES

#: How like a known name a key must be to be taken for it.
MISSPELT_SIMILARITY = 0.8
EXTENSIONS = "rest.extension.classes"
#: Modules that declare keys, the quick to import first; they are looked at until all keys are known.
DECLARING = (
    "copycat_launcher.worker_properties",
    "copycat_connect.config.worker_keys",
    "copycat_telemetry.metrics.export",
    "copycat_eventlog.past.settings",
    "copycat_eventlog.worker_properties",
    *(f"{role.module}.settings" for role in ROLES),
)


def warnings_about(properties: Mapping[str, str]) -> list[str]:
    """Return a sentence for each key that is no worker property; never a value.

    With REST extensions, which read keys of their own, only keys that are like a known one are named.
    """
    return [*_warnings_about_clients(properties), *_warnings_about_worker(properties)]


def _warnings_about_clients(properties: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each setting of a client that is like one of Kafka's; others may be of plugins."""
    for kind in ("producer", "consumer", "admin"):
        prefix = f"{kind}."
        given = [key for key in properties if key.startswith(prefix) and key not in EVERYTHING]
        unknown = {key: name for key in given if (name := key.removeprefix(prefix)) not in EVERYTHING}
        if not unknown:
            continue
        clients = importlib.import_module("copycat_connect.validation.client_settings")
        known = clients.client_definition(clients.Client[kind.upper()]).keys
        for key, name in unknown.items():
            meant = similar(name, known, closeness=MISSPELT_SIMILARITY)
            if meant and name not in known:
                yield (
                    f"{key} is not a setting of a Kafka client and has no effect; "
                    f"did you mean {prefix}{meant[0]}?"
                )


def _warnings_about_worker(properties: Mapping[str, str]) -> list[str]:
    known = EVERYTHING | {f"{role.name}.addresses" for role in ROLES}
    unknown = [key for key in properties if not (key in known or _is_free(key))]
    for module in DECLARING:
        if not unknown:
            return []
        known |= {key.name for key in declared_keys(vars(importlib.import_module(module)).values())}
        unknown = [key for key in unknown if key not in known]
    extended = bool(properties.get(EXTENSIONS, "").strip())
    return [text for key in unknown if (text := _warning(key, known, only_alike=extended))]


def _is_free(key: str) -> bool:
    return key.startswith(FREE_PREFIXES) and not key.startswith(HTTPS_PREFIXES)


def declared_keys(values: Iterable[object]) -> Iterator[ConfigKey]:
    """Yield the keys among what a module defines."""
    for value in values:
        if isinstance(value, ConfigDef):
            yield from value.keys.values()
        elif isinstance(value, ConfigKey):
            yield value


def _warning(key: str, known: Iterable[str], *, only_alike: bool) -> str:
    meant = similar(key, known, closeness=MISSPELT_SIMILARITY)
    if meant:
        return f"{key} is not a worker property and has no effect; did you mean {meant[0]}?"
    return "" if only_alike else f"{key} is not a worker property and has no effect"
