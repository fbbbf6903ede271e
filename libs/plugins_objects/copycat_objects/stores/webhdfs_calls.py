"""Calls of WebHDFS, and what their failures mean."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import requests
from copycat_connect.errors import ConnectError
from requests.adapters import HTTPAdapter

from copycat_objects.stores.errors import (
    FileMissingError,
    FileTakenError,
    StoreAwayError,
    StoreFullError,
    StoreRefusedError,
)

WEB_KEY: Final = "webhdfs.url"
USER_KEY: Final = "hdfs.user"
_CONNECT_SECONDS: Final = 10.0
_READ_SECONDS: Final = 60.0
_UNAUTHORIZED: Final = 401
_SERVER_ERROR: Final = 500
_MISSING: Final = frozenset({"FileNotFoundException"})
_TAKEN: Final = frozenset({"FileAlreadyExistsException"})
_NO_RIGHT: Final = frozenset({"AccessControlException", "AuthorizationException", "SecurityException"})
_FULL: Final = frozenset({"DSQuotaExceededException", "NSQuotaExceededException", "QuotaExceededException"})
_WRONG: Final = frozenset(
    {
        "IllegalArgumentException",
        "InvalidPathException",
        "ParentNotDirectoryException",
        "PathIsNotDirectoryException",
        "UnsupportedOperationException",
    }
)


class WebHdfs:
    """Calls to one NameNode, and to the DataNodes it names; for several threads."""

    def __init__(self, web_url: str, root: str, user: str, name: str) -> None:
        """Connect at the first call.

        Args:
            web_url: `http://host:port` or `https://host:port` of the NameNode.
            root: The folder that paths are below, `/` or `/a/b`.
            user: Whom to be.
            name: The store as users know it.
        """
        self.name = name
        self._web_url = web_url.rstrip("/")
        self._root = root.strip("/")
        self._user = user
        self._session = requests.Session()
        self._session.trust_env = False  # no proxy, no password of a file of the user's
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, HTTPAdapter(pool_maxsize=8))

    def absolute(self, path: str) -> str:
        """Return a path below the root as HDFS knows it."""
        return "/" + "/".join(part for part in (self._root, path) if part)

    def ask(self, method: str, operation: str, path: str, doing: str, **options: str) -> dict[str, Any]:
        """Make a call that the NameNode answers itself, and return its JSON; empty where it says nothing.

        Raises:
            FileMissingError: There is no such file.
            FileTakenError: There is one already.
            StoreAwayError: HDFS cannot do it now.
            StoreRefusedError: HDFS will not do it.
        """
        with self._send(method, self._address(path, operation, options), doing) as answer:
            return self._content(answer, doing)

    def move_content(
        self,
        method: str,
        operation: str,
        path: str,
        doing: str,
        content: bytes | None = None,
        **options: str,
    ) -> requests.Response:
        """Make a call that a DataNode answers; the caller reads the answer's body as it comes, and closes it.

        Raises:
            ConnectError: As `ask` does.
        """
        place = self.ask(method, operation, path, doing, noredirect="true", **options)
        try:
            node = str(place["Location"])
        except KeyError:
            raise StoreRefusedError(
                f"Cannot {doing} in {self.name}: {WEB_KEY}={self._web_url} does not speak WebHDFS"
            ) from None
        answer = self._send(method, node, doing, content, stream=True)
        if answer.ok:
            return answer
        with answer:
            raise self._refusal(answer, doing)

    def failure(self, error: Exception, doing: str) -> ConnectError:
        """Return what a failure of the HTTP client means: somebody is away."""
        kind = type(error).__name__
        return StoreAwayError(
            f"Cannot {doing} in {self.name}: no answer from HDFS ({kind}) at {WEB_KEY}={self._web_url} or "
            "from a DataNode it names; is it up, and is the address right?"
        )

    def close(self) -> None:
        """Give back the connections."""
        self._session.close()

    def _address(self, path: str, operation: str, options: Mapping[str, str]) -> str:
        asked = {"op": operation, "user.name": self._user, **options}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in asked.items())
        return f"{self._web_url}/webhdfs/v1{quote(self.absolute(path))}?{query}"

    def _send(
        self, method: str, address: str, doing: str, content: bytes | None = None, *, stream: bool = False
    ) -> requests.Response:
        try:
            return self._session.request(
                method,
                address,
                data=content,
                headers={} if content is None else {"Content-Type": "application/octet-stream"},
                stream=stream,
                allow_redirects=False,
                timeout=(_CONNECT_SECONDS, _READ_SECONDS),
            )
        except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema) as error:
            raise StoreRefusedError(
                f"Invalid value for configuration {WEB_KEY}: expected http://host:port"
            ) from error
        except requests.RequestException as error:
            raise self.failure(error, doing) from error

    def _content(self, answer: requests.Response, doing: str) -> dict[str, Any]:
        if not answer.ok:
            raise self._refusal(answer, doing)
        if not answer.content:
            return {}
        try:
            found = answer.json()
        except requests.JSONDecodeError:
            found = None
        if not isinstance(found, dict):
            raise StoreRefusedError(
                f"Cannot {doing} in {self.name}: {WEB_KEY}={self._web_url} does not speak WebHDFS"
            )
        return found

    def _refusal(self, answer: requests.Response, doing: str) -> ConnectError:
        """Return what a NameNode or DataNode means: it names a class of Java's in its answer."""
        kind, said = _remote_exception(answer)
        text = f"Cannot {doing} in {self.name}: {said}"
        if kind in _MISSING:
            return FileMissingError(text)
        if kind in _TAKEN:
            return FileTakenError(text)
        if kind in _NO_RIGHT or answer.status_code == _UNAUTHORIZED:
            return StoreRefusedError(
                f"{text}; let the user '{self._user}' do it, or name another in '{USER_KEY}' (a cluster that "
                "asks for Kerberos is not supported)"
            )
        if kind in _FULL:
            return StoreFullError(f"{text}; make room there, or raise the quota of the folder")
        if kind in _WRONG or (not kind and answer.status_code < _SERVER_ERROR):
            return StoreRefusedError(f"{text}; look at 'hdfs.url' and {WEB_KEY}={self._web_url}")
        return StoreAwayError(text)


def _remote_exception(answer: requests.Response) -> tuple[str, str]:
    """Return the class that failed and the first line it said; no class where it is no answer of WebHDFS."""
    try:
        told = json.loads(answer.content)["RemoteException"]
        return str(told["exception"]), str(told["message"]).partition("\n")[0]
    except (ValueError, KeyError, TypeError, requests.RequestException):
        return "", f"answered with {answer.status_code}"
