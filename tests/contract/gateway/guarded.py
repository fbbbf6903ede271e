"""A gateway that asks who calls, in front of services that the test plays."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.contract.gateway.world import World
from tests.issuer import Issuer

BASIC_AUTH = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"
SECRET = "a-secret-of-sixteen-and-more"
CONFIG = {"connector.class": "FileStreamSource", "topic": "lines"}


@asynccontextmanager
async def guarded(
    issuer: Issuer | None, *, rules: Path | None = None, users: Path | None = None, **properties: str
) -> AsyncIterator[World]:
    """Serve REST; `rest` of the world talks to it. Underscores in names stand for dots."""
    asked = {key.replace(".", "_"): value for key, value in (issuer.settings if issuer else {}).items()}
    if rules is not None:
        asked["access_rules_file"] = str(rules)
    if users is not None:
        asked |= {"rest_extension_classes": BASIC_AUTH, "rest_basic_auth_file": str(users)}
    async with AsyncExitStack() as stack:
        made = World(stack, SECRET)
        await made.start()
        await made.add_worker()
        await made.open_gateway(**asked, **properties)
        yield made
