"""How long commits of offsets take and what becomes of them."""

from __future__ import annotations

from copycat_executor.pipeline.task.measures import Measures


class CommitMeter:
    """Notes each commit of one task once its fate is known."""

    def __init__(self, measures: Measures) -> None:
        self._measures = measures
        self._began = 0.0
        self._under_way: dict[int, float] = {}
        self._newest = 0

    def begin(self) -> None:
        """A commit begins: what is to be committed is being made durable."""
        self._began = self._measures.clock()

    def nothing_new(self) -> None:
        """There was nothing to commit."""
        self._succeeded(self._began)

    def transaction(self, records: int) -> None:
        """A transaction of so many records was committed, its offsets with them (KIP-618)."""
        self._measures.note("transaction-size", records)
        self._measures.note("offset-commit-completion")
        self._succeeded(self._began)

    def failed(self) -> None:
        """It failed before anything was acknowledged."""
        self._measures.note("offset-commit-failure")

    def acknowledged(self, sequence: int) -> None:
        """Its offsets are on their way."""
        self._under_way[sequence] = self._began
        self._measures.note_state("offset-commit-seq-no", sequence)

    def settled(self, sequence: int, error: str) -> None:
        """The offset service has answered."""
        began = self._under_way.pop(sequence, None)
        if began is None:
            return
        if sequence < self._newest:
            self._measures.note("offset-commit-skip")
        elif error:
            self.failed()
        else:
            self._newest = sequence
            self._measures.note("offset-commit-completion")
            self._succeeded(began)

    def _succeeded(self, began: float) -> None:
        self._measures.note("offset-commit-time-ms", (self._measures.clock() - began) * 1000)
