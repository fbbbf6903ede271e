"""Wait until a role is ready, at the address that its properties give it."""

from __future__ import annotations

from collections.abc import Mapping

from copycat_rest.advertised import local_url
from copycat_rest.contexts import own_context

from copycat_launcher.encryption import tls_of
from copycat_launcher.readiness import serves_grpc, serves_rest
from copycat_launcher.roles import GATEWAY, Role


async def until_ready(role: Role, properties: Mapping[str, str]) -> None:
    """Return once the role with these properties answers that it serves; waits for ever.

    Raises:
        ConfigError: What is needed for TLS cannot be read.
    """
    if role is GATEWAY:
        await serves_rest(local_url(properties), own_context(properties))
    else:
        await serves_grpc(role.address(properties), tls_of(properties))
