"""Processes that have the roles inside: their executor is served on plain processes, too."""

from __future__ import annotations

from importlib import import_module

from copycat_launcher import in_process
from copycat_launcher.in_process import Serve
from copycat_launcher.roles import EXECUTOR, ServiceRole

_serve_of = in_process.serve_of


def replace() -> None:
    """Have roles found by the function below, by whoever imports it from now on."""
    vars(in_process)["serve_of"] = serve_of


def serve_of(role: ServiceRole) -> Serve:
    """Return the function that serves a role; the executor's is imported where one runs."""
    if role is not EXECUTOR:
        return _serve_of(role)
    serve: Serve = import_module("plain_spark").serve_plain
    return serve
