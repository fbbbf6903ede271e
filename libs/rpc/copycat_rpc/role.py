"""One role in a process of its own: `python -m copycat_<role> worker.properties`."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.properties import parse_properties
from copycat_connect.errors import ConfigError, CopycatError
from copycat_telemetry.changes import log_change
from copycat_telemetry.logs import begin_telemetry


def heed_interrupts() -> None:
    """Have SIGINT raise KeyboardInterrupt in this process even if it was started with SIGINT ignored.

    A command documents that SIGINT stops it; children started from here on inherit no ignored SIGINT either.
    Only the main thread can do so; in another, e.g. of a program that calls our commands, this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def heeding_interrupts() -> Iterator[None]:
    """Heed SIGINT while the block runs, then leave it as it was; does nothing outside of the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    heed_interrupts()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


log = logging.getLogger(__name__)

Serve = Callable[[Mapping[str, str], asyncio.Event], Coroutine[Any, Any, None]]


def read_properties(path: Path) -> dict[str, str]:
    """Read a Java properties file.

    Raises:
        ConfigError: The file cannot be read or is not a properties file.
    """
    try:
        return parse_properties(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(f"Cannot read the properties file {path}: {error.strerror}") from error
    except (ConfigError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not a properties file (key=value lines): {error}") from error


def own_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return a worker's properties with the placeholders resolved that a role uses itself.

    Raises:
        ConfigError: A config provider is wrong, or failed.
    """
    return Placeholders.from_worker(properties, os.environ).resolve_own(properties)


def main(role: str, serve: Serve) -> int:
    """Run a role from the command line: its one argument is the worker's properties file."""
    if len(sys.argv) != 2:
        return _print_line(role, f"usage: python -m copycat_{role} worker.properties", code=2)
    try:
        properties = read_properties(Path(sys.argv[1]))
    except ConfigError as error:
        return _print_line(role, str(error))
    return run_role(role, serve, properties)


def run_role(role: str, serve: Serve, properties: Mapping[str, str]) -> int:
    """Run one role in this process until SIGTERM or SIGINT; returns the exit code.

    A `CopycatError` is printed as one line on stderr and ends with 1: a supervisor starts the process again.
    """
    heed_interrupts()
    try:
        begin_telemetry(role, properties)
        log_change(log, "service started", pid=os.getpid())
        asyncio.run(_until_signalled(serve, properties))
        log_change(log, "service stopped", why="a signal asked for it")
    except ConfigError as error:
        return _print_line(role, f"{error} (fix the worker properties and start again)")
    except CopycatError as error:
        return _print_line(role, str(error))
    return 0


async def _until_signalled(serve: Serve, properties: Mapping[str, str]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    await serve(properties, stop)


def _print_line(role: str, text: str, code: int = 1) -> int:
    sys.stderr.write(f"copycat {role}: {text}\n")
    return code
