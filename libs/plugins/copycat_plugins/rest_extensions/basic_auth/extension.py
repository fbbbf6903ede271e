"""BasicAuthSecurityRestExtension: asks every request for a name and a password."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping

from copycat_connect.plugin import Caller, RestAnswer, RestExtension, RestExtensionContext, RestRequest

from copycat_plugins.rest_extensions.basic_auth.credentials import credentials
from copycat_plugins.rest_extensions.basic_auth.spec import CONFIG, FILE
from copycat_plugins.rest_extensions.basic_auth.users import Users, read_users

log = logging.getLogger(__name__)

#: Requests of workers to each other, which are signed with a key of theirs.
INTERNAL = (("POST", re.compile(r"/connectors/[^/]+/tasks")), ("PUT", re.compile(r"/connectors/[^/]+/fence")))
SCHEME = "Basic"
REFUSAL = RestAnswer(401, "User cannot access the resource.", "text/plain")


class BasicAuthSecurityRestExtension(RestExtension):
    """Refuses whoever is not named in the file."""

    def configure(self, configs: Mapping[str, str]) -> None:
        """Read users and passwords from the file, where one is named."""
        file = CONFIG.parse(configs)[FILE]
        self._users = read_users(None if file is None else str(file))
        if self._users.are_all:
            log.warning("%s names nobody in %s: everybody may use the REST interface", FILE, file)

    def register(self, context: RestExtensionContext) -> None:
        """Say who calls by a known name and password, and refuse all others."""
        context.add_authenticator(SCHEME, lambda request: caller_of(self._users, request))


def caller_of(users: Users, request: RestRequest) -> Caller | RestAnswer | None:
    """Return who sent a request, or its refusal; nothing where anybody may pass."""
    if users.are_all or _is_internal(request):
        return None
    given = credentials(request.headers.get("authorization"))
    return Caller(given.name) if given is not None and users.has(*given) else REFUSAL


def _is_internal(request: RestRequest) -> bool:
    return any(request.method == method and path.fullmatch(request.path) for method, path in INTERNAL)
