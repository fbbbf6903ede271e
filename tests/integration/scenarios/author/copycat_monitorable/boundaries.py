"""Transactions as a connector may place them: as large as the Fibonacci numbers, the even ones aborted."""

from __future__ import annotations

from copycat_connect.data import SourceRecord
from copycat_connect.plugin.contexts import TransactionContext


class Boundaries:
    """Ends transactions of 1, 1, 2, 3, 5, 8 ... records: commits those of odd size, aborts those of even."""

    def __init__(self, transaction: TransactionContext) -> None:
        """Begin with the first record."""
        self._transaction = transaction
        self._size, self._next_size, self._end = 1, 1, 1

    def mark(self, number: int, record: SourceRecord) -> None:
        """End the transaction with this record if it is the last of one."""
        while self._end < number:
            self._advance()
        if number == self._end:
            odd = self._size % 2
            (self._transaction.commit_transaction if odd else self._transaction.abort_transaction)(record)

    def _advance(self) -> None:
        self._size, self._next_size = self._next_size, self._size + self._next_size
        self._end += self._size
