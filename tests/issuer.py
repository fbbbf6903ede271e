"""An issuer of tokens on this machine: serves its public keys, and signs what a test asks for."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, Key, KeySet, RSAKey
from pytest_httpserver import HTTPServer

AUDIENCE = "copycat"
#: Made once: to make one takes up to a second.
RSA = RSAKey.generate_key(2048, {"kid": "rsa-1", "use": "sig", "alg": "RS256"})


class Issuer:
    """What signs in a user, and is asked for its keys over http."""

    def __init__(self, server: HTTPServer) -> None:
        self._server = server
        self.url = server.url_for("/realm")
        self.key: Key = RSA
        """What it signs with."""
        self.published: list[Key] = [RSA]
        """What it shows the public half of."""
        server.expect_request("/realm/.well-known/openid-configuration").respond_with_json(
            {"issuer": self.url, "jwks_uri": server.url_for("/keys")}
        )
        server.expect_request("/keys").respond_with_handler(lambda _: _json(self.key_set()))

    @property
    def asked(self) -> int:
        """How often it was asked for its keys."""
        return sum(1 for request, _ in self._server.log if request.path == "/keys")

    @property
    def settings(self) -> dict[str, str]:
        """Worker properties by which its tokens are accepted."""
        return {"access.token.issuer": self.url, "access.token.audience": AUDIENCE}

    def key_set(self) -> dict[str, Any]:
        """Return what it shows."""
        return dict(KeySet(list(self.published)).as_dict(private=False))

    def rotate(self, kid: str) -> None:
        """Sign with a new key from now on, and show only that one."""
        self.key = ECKey.generate_key("P-256", {"kid": kid, "use": "sig"})
        self.published = [self.key]

    def token(self, name: str, *groups: str, **claims: Any) -> str:
        """Return a token that is good for five minutes; `claims` replace others, None removes one."""
        now = int(time.time())
        whole = {"iss": self.url, "aud": AUDIENCE, "sub": name, "groups": list(groups), "iat": now}
        whole |= {"exp": now + 300, **claims}
        header = {"alg": "RS256" if isinstance(self.key, RSAKey) else "ES256", "kid": self.key.kid}
        return jwt.encode(header, {key: value for key, value in whole.items() if value is not None}, self.key)

    def forged(self, name: str) -> str:
        """Return a token that somebody else signed, with a key that bears the name of the issuer's."""
        key, self.key = self.key, ECKey.generate_key("P-256", {"kid": self.key.kid or ""})
        try:
            return self.token(name)
        finally:
            self.key = key


def bearer(token: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {token}"}


def part(content: object) -> str:
    """Return a part of a token that holds this."""
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


@contextmanager
def an_issuer() -> Iterator[Issuer]:
    """Run an issuer for a while."""
    with HTTPServer(host="127.0.0.1", port=0) as server:
        yield Issuer(server)


def _json(content: object) -> Any:
    from werkzeug import Response  # noqa: PLC0415 - what the server of the tests answers with

    return Response(json.dumps(content), content_type="application/json")
