"""The REST interface over HTTP: typed answers, and refusals as errors of ours."""

from __future__ import annotations

import ssl
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

import httpx2
import msgspec
from copycat_rest.answers import ErrorMessage

from copycat_cli.credentials import TOKEN_VARIABLE, VARIABLE, Login, Token, distrust
from copycat_cli.errors import CliError, RefusedError, UnknownNameError, UnreachableError, UntrustedError

T = TypeVar("T")
ANSWER_SECONDS = 120.0
"""More than the 90 s after which a worker itself gives up."""
CONNECT_SECONDS = 5.0
#: A proxy of the environment leads out of this machine, never back to it.
PAST_PROXIES: Mapping[str, None] = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}


HOW_TO_LOG_IN = f"Give it --user NAME:PASSWORD, or {VARIABLE}; a token as --token TOKEN, or {TOKEN_VARIABLE}"


@dataclass(frozen=True, slots=True)
class GatewayAnswer:
    """An answer that is no refusal."""

    status: int
    content: bytes
    shown_url: str

    def read_as(self, shape: type[T]) -> T:
        """Return the body as this type.

        Raises:
            UnreachableError: It is not of this type: whatever answers is not Kafka Connect.
        """
        try:
            return msgspec.json.decode(self.content, type=shape)
        except msgspec.DecodeError as error:
            raise _not_connect(self.shown_url, self.status) from error


class Rest:
    """One cluster, asked over any of its REST addresses."""

    def __init__(
        self,
        url: str,
        *,
        tls: ssl.SSLContext | None = None,
        user: Login | None = None,
        patience: float = ANSWER_SECONDS,
    ) -> None:
        """Nothing is sent yet.

        Args:
            url: The root, e.g. `http://127.0.0.1:8083`; a name and password in it are used and never shown.
            tls: Whom to trust, and what to show, where the scheme is https; by default those that sign for
                the public web, and nothing.
            user: A name and a password, or a token, that win over what is in the url.
            patience: Seconds to wait for an answer.

        Raises:
            UnreachableError: It is no address.
        """
        timeout = httpx2.Timeout(patience, connect=min(patience, CONNECT_SECONDS))
        try:
            parsed = httpx2.URL(url if "://" in url else f"http://{url}")
        except httpx2.InvalidURL as error:
            raise UnreachableError(
                f"The url is no address ({error}): it looks like http://HOST:8083"
            ) from error
        self.shown_url = str(parsed.copy_with(userinfo=b"")).rstrip("/")
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise UnreachableError(
                f"{self.shown_url} is no address of a cluster: it looks like http://HOST:8083"
            )
        self._root = str(parsed).rstrip("/")
        # Loading the authorities takes longer than a request: only where there is TLS.
        default = True if parsed.scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        verify = default if tls is None else tls
        self._client = httpx2.Client(timeout=timeout, mounts=PAST_PROXIES, verify=verify)
        self._user = httpx2.USE_CLIENT_DEFAULT if user is None else _auth(user)

    def get(self, shape: type[T], *path: str, query: Mapping[str, str | list[str]] | None = None) -> T:
        """Return what is at a path."""
        return self.ask("GET", *path, query=query).read_as(shape)

    def ask(
        self,
        method: str,
        *path: str,
        body: object = None,
        query: Mapping[str, str | list[str]] | None = None,
    ) -> GatewayAnswer:
        """Send a request to a path given by its segments.

        Raises:
            NotFoundError: The answer is 404.
            RefusedError: The answer is another 4xx.
            CliError: The cluster failed to answer.
            UntrustedError: What answers shows a certificate that is not trusted.
            UnreachableError: Nothing answers there, or something else than Kafka Connect.
        """
        url = "/".join((self._root, *(quote(segment, safe="") for segment in path)))
        content = None if body is None else msgspec.json.encode(body)
        headers = {} if body is None else {"Content-Type": "application/json"}
        try:
            reply = self._client.request(
                method, url, content=content, headers=headers, params=query, auth=self._user
            )
        except httpx2.TimeoutException as error:
            raise UnreachableError(
                f"{self.shown_url} did not answer in time: {method} /{'/'.join(path)}"
            ) from error
        except httpx2.TransportError as error:
            raise self._away(error) from error
        if reply.is_success:
            return GatewayAnswer(reply.status_code, reply.content, self.shown_url)
        raise self._refusal(reply)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _away(self, error: httpx2.TransportError) -> UnreachableError:
        if reason := distrust(error):
            return UntrustedError(f"The certificate of {self.shown_url} is not trusted: {reason}")
        message = f"No cluster answers at {self.shown_url}: {error}"
        if isinstance(
            error, httpx2.RemoteProtocolError | httpx2.ReadError
        ):  # a listener that refuses says no more
            message += (
                ". It may want a certificate: --cert FILE shows it one"
                if self._root.startswith("https")
                else f". It may want https: --url {self.shown_url.replace('http', 'https', 1)}"
            )
        return UnreachableError(message)

    def _refusal(self, reply: httpx2.Response) -> CliError:
        try:
            message = msgspec.json.decode(reply.content, type=ErrorMessage).message
        except msgspec.DecodeError:
            return _not_connect(self.shown_url, reply.status_code)
        if reply.status_code == httpx2.codes.UNAUTHORIZED:
            return UnreachableError(f"{self.shown_url} answered HTTP 401: {message}. {HOW_TO_LOG_IN}")
        if reply.status_code == httpx2.codes.NOT_FOUND:
            return UnknownNameError(message)
        if reply.is_client_error:
            return RefusedError(message)
        return CliError(f"The cluster answered HTTP {reply.status_code}: {message}")


class _TokenAuth(httpx2.Auth):
    """Sends a token with each request."""

    def __init__(self, token: Token) -> None:
        self._token = token

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        """Add the header."""
        request.headers["Authorization"] = f"Bearer {self._token.text}"
        yield request


def _auth(user: Login) -> httpx2.Auth:
    return _TokenAuth(user) if isinstance(user, Token) else httpx2.BasicAuth(*user)


def _not_connect(url: str, status: int) -> UnreachableError:
    if status in {httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN}:
        return UnreachableError(
            f"{url} answered HTTP {status}: it wants to know who you are. {HOW_TO_LOG_IN}"
        )
    return UnreachableError(f"What answers at {url} is not Kafka Connect's REST interface (HTTP {status})")
