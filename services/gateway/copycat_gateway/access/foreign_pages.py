"""Web pages of others: whatever a browser sends for them is refused, and programs notice nothing.

A page that somebody opens may send requests wherever the browser reaches. They say where the page is from
(`Origin`, `Sec-Fetch-Site`), unless its owner had the name of his own site lead here (DNS rebinding): the
browser then takes us for that site and lets the page read our answers, but names the site in `Host`.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Final

from copycat_connect.errors import ConfigError
from copycat_rest.listeners import HTTPS, SCHEMES, Listener
from litestar.config.cors import CORSConfig
from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from copycat_gateway.access.calls import current_call
from copycat_gateway.edge.answers import refuse

KEY: Final = "rest.origins"
ALL: Final = "*"
_AUTHORITY: Final = re.compile(
    r"(?:\[(?P<v6>[0-9a-f:.%]+)\]|(?P<host>[^\[\]:/@?#\s]+))(?::(?P<port>[0-9]{1,5}))?"
)
_DEFAULT_PORTS: Final = {"http": 80, HTTPS: 443}
#: Ends of names that no stranger can register (RFC 6761, 6762 and 8375, ICANN's `internal`, Kubernetes).
_PRIVATE_ENDS: Final = (".localhost", ".local", ".internal", ".home.arpa", ".svc")
#: Browsers send some of these with every request, and a page cannot take all of them away.
_OF_BROWSERS: Final = frozenset({"origin", "sec-fetch-site", "accept-language", "referer", "cookie"})
_POWERSHELL: Final = "PowerShell/"
"""In what its requests call themselves: beside `Mozilla/`, but nothing else that browsers send."""
_READING: Final = frozenset({"GET", "HEAD"})
_MAX_SHOWN: Final = 100
"""Characters of a header that a refusal repeats."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a page is from: its origin."""

    scheme: str
    """http, https, or what else a browser has."""
    host: str
    """Name or address, in lower case."""
    port: int
    """The scheme's own where the text has none."""


@dataclass(frozen=True, slots=True)
class Trusted:
    """Whose pages may call, and under which names this gateway answers."""

    sites: Sequence[Site] = ()
    """What `rest.origins` names, and the advertised address."""
    names: frozenset[str] = frozenset()
    """Hosts of the listeners, and this machine's."""
    encrypted_ports: frozenset[int] = frozenset()
    """Ports that are reached by https alone: there a certificate proves the name."""
    everybody: bool = False
    """`rest.origins=*`."""


def trusted(origins: Sequence[str], advertised: str, listeners: Iterable[Listener]) -> Trusted:
    """Read `rest.origins`, beside which our own addresses are trusted.

    Raises:
        ConfigError: An entry is no origin.
    """
    sites = [_configured(text) for text in origins if text != ALL]
    own = _site(advertised)
    known = list(listeners)
    plain = {each.port for each in known if each.scheme != HTTPS}
    hosts = {each.host.lower() for each in known if each.host}
    return Trusted(
        sites=tuple(sites) if own is None else (*sites, own),
        names=frozenset({*hosts, socket.gethostname().lower()}),
        encrypted_ports=frozenset(each.port for each in known if each.port and each.port not in plain),
        everybody=ALL in origins,
    )


class ForeignPages:
    """Answers 403 to requests of pages that are neither ours nor trusted."""

    def __init__(
        self,
        app: ASGIApp,
        trust: Trusted,
        cors: CORSConfig | None,
        full_name: Callable[[], str] = socket.getfqdn,
    ) -> None:
        """`cors`: whom `access.control.allow.origin` names, trusted too; `full_name`: asks the DNS."""
        self._app = app
        self._full_name = cache(full_name)
        self._trusted = trust
        self._cors = cors
        self._trusted_names = trust.names | {site.host for site in trust.sites}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == ScopeType.HTTP and not self._trusted.everybody:
            why = await self._objection(scope)
            if why:
                current_call().denied_because = why
                await refuse(send, HTTPStatus.FORBIDDEN, why)
                return
        await self._app(scope, receive, send)

    async def _objection(self, scope: HTTPScope) -> str:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        address, port = scope["server"] or ("", None)
        host = headers.get("host", "").strip().lower()
        own = _authority(host)
        encrypted = port in self._trusted.encrypted_ports
        if not encrypted and _may_be_rebound(headers, address) and not self._is_of_named(headers, own):
            name = "" if own is None else own[0]
            if host and not (name and (self._is_ours(name) or name == await self._looked_up())):
                return (
                    f"This worker does not answer under the name {_shown(host)}, which a web page of others"
                    f" may have led here: call it by an address of its own, or name http://HOST in {KEY}"
                )
        return self._objection_to_page(scope["method"], headers, own, port)

    def _objection_to_page(
        self, method: str, headers: Mapping[str, str], own: tuple[str, int | None] | None, port: int | None
    ) -> str:
        origin = headers.get("origin")
        if origin is not None:
            if self._is_trusted(origin, own, port):
                return ""
            page = f"of {_shown(origin)}"
        elif _is_of_another_site(method, headers):
            page = "of another site"
        else:
            return ""
        return (
            f"A web page {page} sent this request, and pages of others are refused: if it is to be trusted,"
            f" name its origin in {KEY}"
        )

    def _is_of_named(self, headers: Mapping[str, str], own: tuple[str, int | None] | None) -> bool:
        """Tell whether a page that the operator names calls, from another host than it calls.

        Browsers say whose page it is, so nobody else's was led here under the name.
        """
        origin = headers.get("origin", "")
        site = _site(origin)
        return site is not None and (own is None or site.host != own[0]) and self._is_named(origin, site)

    async def _looked_up(self) -> str:
        """Return this machine's name with its domain, which may take seconds, once."""
        return (await asyncio.to_thread(self._full_name)).lower()

    def _is_ours(self, name: str) -> bool:
        """Tell whether no stranger can have a site of that name."""
        name = name.removesuffix(".")
        return (
            "." not in name
            or name in self._trusted_names
            or name.endswith(_PRIVATE_ENDS)
            or _address(name) is not None
        )

    def _is_trusted(self, origin: str, own: tuple[str, int | None] | None, port: int | None) -> bool:
        site = _site(origin)
        if self._is_named(origin, site):
            return True
        if site is None:
            return False
        if own is not None and (site.host, site.port) == (own[0], own[1] or _DEFAULT_PORTS.get(site.scheme)):
            return True
        is_here = site.host in self._trusted.names or _is_loopback(site.host)
        return is_here and site.port == port

    def _is_named(self, origin: str, site: Site | None) -> bool:
        by_cors = self._cors is not None and self._cors.is_origin_allowed(origin)
        return by_cors or site in self._trusted.sites


def _may_be_rebound(headers: Mapping[str, str], address: str) -> bool:
    """Tell whether a name of somebody else's may have led a browser here.

    On loopback nobody needs such a name, so it counts whoever calls; beyond, programs that call through a
    proxy or by a name that we do not know differ from browsers, since they send less.
    """
    agent = headers.get("user-agent", "")
    # Browsers send both or neither, and no page can change them: Node's `fetch` sends the first alone.
    of_node = "sec-fetch-mode" in headers and "sec-fetch-site" not in headers
    marks = _OF_BROWSERS - {"accept-language"} if of_node else _OF_BROWSERS
    return (
        _is_loopback(address)
        or (agent.startswith("Mozilla/") and _POWERSHELL not in agent)
        or any(name in headers for name in marks)
    )


def _is_of_another_site(method: str, headers: Mapping[str, str]) -> bool:
    """Tell whether a page of another site asks without saying which; followed links are not meant."""
    if headers.get("sec-fetch-site", "none") not in {"cross-site", "same-site"}:
        return False
    return method not in _READING or headers.get("sec-fetch-mode") != "navigate"


def _configured(text: str) -> Site:
    site = _site(text)
    if site is None or site.scheme not in SCHEMES:
        raise ConfigError(
            f"{KEY} has '{text}', which is no origin: write http://host:port or https://host:port,"
            f" or {ALL} for every page",
            key=KEY,
        )
    return site


def _site(text: str) -> Site | None:
    scheme, found, rest = text.strip().lower().partition("://")
    authority = _authority(rest)
    if not found or authority is None:
        return None
    host, port = authority
    return Site(scheme, host, port or _DEFAULT_PORTS.get(scheme, 0))


def _authority(text: str) -> tuple[str, int | None] | None:
    """Return host and port of `host:port`; nothing for another text."""
    match = _AUTHORITY.fullmatch(text)
    if match is None:
        return None
    return match["v6"] or match["host"], int(match["port"]) if match["port"] else None


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(name)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    found = _address(host)
    return found is not None and found.is_loopback


def _shown(text: str) -> str:
    return f"'{ascii(text[:_MAX_SHOWN])[1:-1]}'"
