"""REST extensions of a package that is installed for one test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.plugin import (
    PluginKind,
    PluginSpec,
    RestAnswer,
    RestExtension,
    RestExtensionContext,
    RestRequest,
)

Configure = Callable[[Mapping[str, str]], None]
Register = Callable[[RestExtensionContext], None]


class Guest(RestExtension):
    """Does what a test says, and keeps what it sees."""

    def __init__(self) -> None:
        self.registers: Register = lambda context: None
        self.configures: Configure = lambda configs: None
        self.requests: list[RestRequest] = []
        self.closed = False

    def configure(self, configs: Mapping[str, str]) -> None:
        self.configures(configs)

    def register(self, context: RestExtensionContext) -> None:
        self.registers(context)

    def close(self) -> None:
        self.closed = True

    def filters(self, decide: Callable[[RestRequest], RestAnswer | None]) -> None:
        """Register one filter."""

        def see(request: RestRequest) -> RestAnswer | None:
            self.requests.append(request)
            return decide(request)

        self.registers = lambda context: context.add_filter(see)


def _same(guest: object) -> object:
    return guest


def install(folder: Path, patch: pytest.MonkeyPatch, **guests: object) -> None:
    """Install a package that announces these extensions as `org.example.<name>`."""
    module = ModuleType("guests_of_one_test")
    module.PLUGINS = tuple(  # type: ignore[attr-defined] # a module made here
        PluginSpec(
            f"org.example.{name}",
            PluginKind.REST_EXTENSION,
            version("copycat-gateway"),
            "",
            ConfigDef(),
            partial(_same, guest),
        )
        for name, guest in guests.items()
    )
    patch.setitem(sys.modules, module.__name__, module)
    announce(folder, "guests", module.__name__)
    patch.syspath_prepend(folder)


def announce(folder: Path, package: str, module: str) -> None:
    """Write what announces the plugins of a module."""
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[copycat.plugins]\n{package} = {module}\n")
