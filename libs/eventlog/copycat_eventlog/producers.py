"""What all transactional producers share: silence, an end that nobody waits for, what they raise."""

from __future__ import annotations

import logging
import threading
from typing import Final

from confluent_kafka import KafkaError, Producer

#: The logger of producers, or being fenced is printed to stderr at any log level; callers get the error.
SILENT: Final = logging.getLogger(f"{__name__}.librdkafka")
SILENT.setLevel(logging.CRITICAL + 1)


def end_in_background(holder: list[Producer]) -> None:
    """End the producer in a list without waiting: that may block while the brokers are away.

    The caller keeps no reference to it beside the list, which is emptied.
    """
    threading.Thread(target=_end, args=(holder,), daemon=True, name="end-producer").start()


def kafka_error(error: BaseException) -> KafkaError:
    """Return what a call of a client raised as Kafka's error; librdkafka raises some as SystemError."""
    if isinstance(error, SystemError) and error.__cause__ is not None:
        return kafka_error(error.__cause__)
    cause = error.args[0] if error.args else error
    return cause if isinstance(cause, KafkaError) else KafkaError(KafkaError.UNKNOWN, str(error))


def _end(holder: list[Producer]) -> None:
    holder[0].purge(blocking=False)
    holder.clear()  # the last reference: librdkafka ends its threads here
