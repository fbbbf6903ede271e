"""What the roles of this machine are asked with over gRPC: read once, and again where the files change."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from copycat_rpc.role import own_properties
from copycat_rpc.tls import PREFIX, ServicesTls, services_tls


def tls_of(properties: Mapping[str, str]) -> ServicesTls | None:
    """Return what `services.ssl.*` say, placeholders or not; nothing where gRPC is in plain text.

    Raises:
        ConfigError: A key is wrong, a store cannot be opened, or a config provider failed.
    """
    if not any(key.startswith(PREFIX) for key in properties):
        return None
    return _read(tuple(sorted(properties.items())))


@lru_cache(maxsize=8)
def _read(properties: tuple[tuple[str, str], ...]) -> ServicesTls | None:
    return services_tls(own_properties(dict(properties)))
