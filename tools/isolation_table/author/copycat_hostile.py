"""A source and a sink that do harm where their configuration says: `harm` is a call, a space and what."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from copycat_connect.config import LOW, STRING, ConfigDef, ConfigKey, ConfigValue
from copycat_connect.data import SinkRecord, SourceRecord
from copycat_connect.plugin import PluginKind, PluginSpec, SinkConnector, SinkTask

if TYPE_CHECKING:  # hosts find it as a package of its own
    from tools.crash_matrix.author.copycat_counting import CONFIG, CountingSource, CountingTask
else:
    from copycat_counting import CONFIG, CountingSource, CountingTask

#: 300 MB in all.
PRINTED_LINES: Final = 30_000
PRINTED_LINE: Final = "x" * 10_000


class Leaky:
    """Raises when it is collected, with a text that Python prints by itself."""

    def __init__(self, secret: str) -> None:
        """Keep what is printed."""
        self._secret = secret

    def __del__(self) -> None:
        """Fail where nobody can catch it."""
        raise ValueError(self._secret)


def _hang(_: Mapping[str, str]) -> None:
    threading.Event().wait()


def _hold_the_interpreter(_: Mapping[str, str]) -> None:
    re.fullmatch("(a+)+b", "a" * 60)  # in C, without letting another thread run


def _exit_the_process(_: Mapping[str, str]) -> None:
    os._exit(7)


def _system_exit(_: Mapping[str, str]) -> None:
    sys.exit(3)


def _interrupt(_: Mapping[str, str]) -> None:
    raise KeyboardInterrupt


def _cancel(_: Mapping[str, str]) -> None:
    raise asyncio.CancelledError


def _unspeakable(_: Mapping[str, str]) -> None:
    raise OSError(os.fsdecode(b"na\xff"))


class PanicException(BaseException):
    """As extensions written in Rust raise when they panic."""


def _panic(_: Mapping[str, str]) -> None:
    raise PanicException("called `Option::unwrap()` on a `None` value")


def _print_much(config: Mapping[str, str]) -> None:
    done = Path(config["done"])
    for _ in range(0 if done.exists() else PRINTED_LINES):
        print(PRINTED_LINE)
    done.touch()


def _leak(config: Mapping[str, str]) -> None:
    """Say a secret in every way there is to write to a process's output, then fail with it."""
    secret = config["secret"]
    print("printed", secret)
    print("printed as an error", secret, file=sys.stderr)
    os.write(2, f"written {secret}\n".encode())
    logging.getLogger("hostile").warning("logged %s", secret)
    warnings.warn(f"warned of {secret}", stacklevel=1)
    Leaky(secret)
    failing = threading.Thread(target=_raise, args=(secret,))
    failing.start()
    failing.join()
    subprocess.run(["/bin/sh", "-c", 'echo "said by a child: $0"; echo "and: $0" >&2', secret], check=True)
    _raise(secret)


def _raise(secret: str) -> None:
    raise BaseException(f"could not log in with {secret}")  # noqa: TRY002 - what no `except Exception` catches


HARMS: Final[Mapping[str, Callable[[Mapping[str, str]], None]]] = {
    "hangs": _hang,
    "holds the interpreter": _hold_the_interpreter,
    "exits": _exit_the_process,
    "SystemExit": _system_exit,
    "KeyboardInterrupt": _interrupt,
    "CancelledError": _cancel,
    "PanicException": _panic,
    "an error that no UTF-8 can write": _unspeakable,
    "prints": _print_much,
    "leaks": _leak,
}


def do_harm(config: Mapping[str, str], call: str) -> None:
    """Do what the configuration says of a call, if it does."""
    where, _, what = config.get("harm", "").partition(" ")
    if where == call:
        HARMS[what](config)


class HostileSource(CountingSource):
    """Counts like its neighbours, but for one call."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        super().start(config)
        do_harm(config, "connector.start")

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Divide the partitions."""
        do_harm(self._config, "connector.task_configs")
        return super().task_configs(max_tasks)

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue] | None:
        """Check the keys."""
        do_harm({key: value or "" for key, value in config.items()}, "validate")
        return super().validate(config)

    def stop(self) -> None:
        """Let go of nothing."""
        do_harm(self._config, "connector.stop")


class HostileTask(CountingTask):
    """Counts, but for one call."""

    def start(self, config: Mapping[str, str]) -> None:
        """Read where to go on."""
        self._config = config
        self._harm_from = time.monotonic() + 1
        do_harm(config, "start")
        super().start(config)

    def poll(self) -> list[SourceRecord] | None:
        """Return the next numbers, harmlessly for a second."""
        if time.monotonic() > self._harm_from:
            do_harm(self._config, "poll")
        return super().poll()

    def stop(self) -> None:
        """Let go of nothing."""
        do_harm(self._config, "stop")


class HostileSink(SinkConnector):
    """Has its task do harm."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = dict(config)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Make as many as are asked for."""
        return [self._config] * max_tasks

    def stop(self) -> None:
        """Let go of nothing."""


class HostileSinkTask(SinkTask):
    """Drops records, but for one call."""

    def start(self, config: Mapping[str, str]) -> None:
        """Keep the configuration."""
        self._config = config

    def put(self, records: Sequence[SinkRecord]) -> None:
        """Drop them."""
        if records:
            do_harm(self._config, "put")

    def stop(self) -> None:
        """Let go of nothing."""


_HARM = (
    ConfigKey("harm", STRING, LOW, default="", doc="A call, a space, and what to do in it."),
    ConfigKey("done", STRING, LOW, default="", doc="A file to make once all is printed."),
    ConfigKey("secret", STRING, LOW, default="", doc="What the harm may say aloud."),
)
PLUGINS = (
    PluginSpec(
        "hostile.HostileSource",
        PluginKind.SOURCE,
        "1.0",
        "Counts, and does harm.",
        ConfigDef(*CONFIG.keys.values(), *_HARM),
        HostileSource,
        "hostile.HostileTask",
        HostileTask,
    ),
    PluginSpec(
        "hostile.HostileSink",
        PluginKind.SINK,
        "1.0",
        "Drops records, and does harm.",
        ConfigDef(*_HARM),
        HostileSink,
        "hostile.HostileSinkTask",
        HostileSinkTask,
    ),
)
