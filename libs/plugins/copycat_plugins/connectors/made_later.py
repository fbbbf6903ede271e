"""Factories of what is expensive to load: plugins are listed in every process, and made in few."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def made_later(module: str, name: str) -> Callable[[], Any]:
    """Return a factory that imports a module when it is called, and makes what it has under a name.

    The factory passes for one of that module, whose package has the plugin's page.
    """

    def make() -> Any:  # noqa: ANN401 - whatever the plugin's kind wants made
        return getattr(import_module(module), name)()

    make.__module__ = module
    return make
