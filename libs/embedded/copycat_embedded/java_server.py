"""A server in a Java program: started, stopped, killed, and started again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from copycat_embedded.jvm import JavaProgram


class JavaServer(ABC):
    """One server; in a `with` block it runs from the beginning to the end of that."""

    def __init__(self) -> None:
        self._program: JavaProgram | None = None

    @abstractmethod
    def start(self) -> str:
        """Start, wait until it can be used, and return its address."""

    @property
    def process_id(self) -> int:
        """Its process id; 0 when it does not run."""
        return 0 if self._program is None else self._program.pid

    def stop(self) -> None:
        """Stop cleanly; nothing happens when it does not run."""
        if self._program is not None:
            self._program.stop()
            self._program = None

    def kill(self) -> None:
        """End it by force, as a crash would; nothing happens when it does not run."""
        if self._program is not None:
            self._program.kill()
            self._program = None

    def __enter__(self) -> Self:
        """Start."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop."""
        self.stop()
