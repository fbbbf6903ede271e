"""A connector that shows what it was given in every way there is, in both processes that run its code."""

from __future__ import annotations

import base64
import ctypes
import logging
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

from copycat_connect.config import LOW, STRING, ConfigDef, ConfigKey
from copycat_connect.config.setting import ConfigValue
from copycat_connect.data import SourceRecord
from copycat_connect.plugin import PluginKind, PluginSpec, SourceConnector, SourceTask

log = logging.getLogger("leaking")
MEGABYTE = b"x" * 999_999 + b"\n"


class _Finalized:
    """Fails where nothing can catch it."""

    def __init__(self, word: str) -> None:
        self._word = word

    def __del__(self) -> None:
        raise ValueError(self._word)


class BadlyEndedError(BaseException):
    """No `Exception`."""


def leak(where: str, word: str) -> None:
    """Write a word in every way; each begins with where that is and how it was done."""

    def fails() -> None:
        log.error("%s log of a thread %s", where, word)
        raise ValueError(f"{where} thread {word}")

    def fails_badly() -> None:
        raise BadlyEndedError(f"{where} base {word}")

    for target in (fails, fails_badly):
        thread = threading.Thread(target=target)
        thread.start()
        thread.join()
    print(where, "print", word)
    sys.stderr.write(f"{where} stderr {word}\n")
    warnings.warn(f"{where} warning {word}", stacklevel=1)
    _Finalized(f"{where} finalizer {word}")
    os.write(1, f"{where} descriptor ".encode())
    os.write(1, word[:7].encode())
    os.write(1, word[7:].encode() + b"\n")
    libc = ctypes.CDLL(None)
    libc.puts(f"{where} C {word}".encode())
    libc.fflush(None)
    subprocess.run(["/bin/echo", f"{where} child process {word}"], check=True)
    print(where, "base64", base64.b64encode(f"me:{word}".encode()).decode())
    log.error("it failed", exc_info=ValueError(f"{where} log of an error {word}"))


class LeakingConnector(SourceConnector):
    """Leaks when it is validated and when it starts."""

    def validate(self, config: Mapping[str, str | None]) -> list[ConfigValue]:
        """Refuse a code, and say which."""
        code = config.get("code")
        return [ConfigValue("code", code, errors=[f"{code} is no code"])] if code else []

    def start(self, config: Mapping[str, str]) -> None:
        """Leak."""
        self._config = config
        leak("connector", config["word"])

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """Put the word into a longer value."""
        del max_tasks
        return [{**self._config, "address": f"http://me:{self._config['word']}@host"}]

    def stop(self) -> None:
        """Hold nothing."""


class LeakingTask(SourceTask):
    """Leaks when it starts, floods the log, and fails with the word."""

    def start(self, config: Mapping[str, str]) -> None:
        """Leak, and see that the word came where it was put."""
        self._word = config["word"]
        assert config["address"] == f"http://me:{self._word}@host"
        leak("task", self._word)
        for _ in range(150):
            os.write(1, MEGABYTE)
            print(MEGABYTE.decode(), end="")
        Path(config["done"]).touch()

    def poll(self) -> Sequence[SourceRecord] | None:
        """Fail."""
        raise ValueError(f"cannot log in with {self._word}")

    def stop(self) -> None:
        """Hold nothing."""


DEFINITION = ConfigDef(
    ConfigKey("word", STRING, LOW, default="", doc="What is shown."),
    ConfigKey("code", STRING, LOW, default="", doc="What is refused."),
    ConfigKey("done", STRING, LOW, default="", doc="File that is made once all was shown."),
)
PLUGINS = (
    PluginSpec(
        "leaking.LeakingSource",
        PluginKind.SOURCE,
        "1.0",
        "Shows what it was given.",
        DEFINITION,
        LeakingConnector,
        "leaking.LeakingTask",
        LeakingTask,
    ),
)
