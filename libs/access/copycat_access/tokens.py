"""Tokens: signature, issuer, audience and time are checked, then they say who calls."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from copycat_connect.cluster import Caller
from joserfc import jws, jwt
from joserfc.errors import ClaimError, JoseError, MissingClaimError

from copycat_access.refusals import TokenRefusedError
from copycat_access.settings import TokenSettings
from copycat_access.signing_keys import SigningKeys

MAX_TOKEN_CHARACTERS: Final = 32_768
MAX_NAME_CHARACTERS: Final = 100
MAX_HEADER_BYTES: Final = 8_192


class TokenCheck:
    """Checks tokens of one issuer; used from one event loop."""

    def __init__(self, settings: TokenSettings, clock: Callable[[], float] = time.time) -> None:
        """Prepare.

        Raises:
            ConfigError: A file of keys or of authorities cannot be used.
        """
        self._settings = settings
        self._keys = SigningKeys(settings)
        self._signatures = jws.JWSRegistry(algorithms=list(settings.algorithms), strict_check_header=False)
        self._signatures.max_header_length = MAX_HEADER_BYTES  # issuers put certificates there
        self._claims = jwt.JWTClaimsRegistry(
            now=lambda: int(clock()),
            leeway=int(settings.skew_seconds),
            iss={"essential": True, "value": settings.issuer},
            aud={"essential": True, "values": list(settings.audiences)},
            exp={"essential": True},
        )

    async def caller(self, token: str) -> Caller:
        """Return who a token is about.

        Raises:
            TokenRefusedError: It is not good here.
            UnavailableError: The issuer's keys cannot be had now.
        """
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise TokenRefusedError(f"it has more than {MAX_TOKEN_CHARACTERS} characters")
        keys = await self._keys.known(self._key_id(token))
        try:
            read = jwt.decode(token, keys, registry=self._signatures)
            self._claims.validate(read.claims)
        except (JoseError, ValueError) as error:
            raise TokenRefusedError(_reason(error)) from None  # the cause may quote the token
        return self._of(read.claims)

    def _key_id(self, token: str) -> str | None:
        """Return which key signed it, says its header, once that names an algorithm that is accepted."""
        try:
            header = jws.extract_compact(token.encode(), registry=self._signatures).headers()
            self._signatures.get_alg(str(header.get("alg")))
        except (JoseError, ValueError) as error:
            raise TokenRefusedError(_reason(error)) from None
        key_id = header.get("kid")
        return None if key_id is None else str(key_id)

    def _of(self, claims: Mapping[str, Any]) -> Caller:
        name = claims.get(self._settings.name_claim)
        if not isinstance(name, str) or not name or len(name) > MAX_NAME_CHARACTERS:
            raise TokenRefusedError(
                f"its claim {self._settings.name_claim} is no name of 1 to {MAX_NAME_CHARACTERS} characters"
            )
        return Caller(name, _groups(claims, self._settings.groups_claim))


def _groups(claims: Mapping[str, Any], path: str) -> frozenset[str]:
    """Return the groups: a list of texts, or words in one text; none where the claim is not there.

    A claim whose own name has dots is found by its whole name.
    """
    found: object = claims.get(path)
    if found is None:
        found = claims
        for part in path.split("."):
            found = found.get(part) if isinstance(found, Mapping) else None
    listed = found.split() if isinstance(found, str) else found
    if not isinstance(listed, list):
        return frozenset()
    return frozenset(each for each in listed if isinstance(each, str))


#: What the claims mean that a token may be refused for.
CLAIMS: Final = {
    "iss": "it is of another issuer",
    "aud": "it is for another audience",
    "nbf": "it is not valid yet",
    "iat": "it was issued in the future",
    "exp": "it has expired",
}
#: What other errors of the library mean.
FAULTS: Final = {
    "invalid_key_id": "it is signed with a key that its issuer does not have",
    "unsupported_algorithm": "it is signed in a way that is not accepted",
    "bad_signature": "its signature is wrong",
}


def _reason(error: Exception) -> str:
    match error:
        case MissingClaimError():
            return f"it lacks claims that are needed: {error.claim}"
        case ClaimError():
            return CLAIMS.get(error.claim, "one of its claims is malformed")
        case JoseError():
            return FAULTS.get(error.error, "it is malformed")
        case _:
            return "it is malformed"
