"""Makes a task's dead letter queue: its topic, its producer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from copycat_connect.config import framework_names as names
from copycat_connect.config.setting import ConfigSetting

from copycat_executor.kafka.admin import KafkaTopics, ensure_dead_letter_topic
from copycat_executor.kafka.client_config import admin_config, producer_config
from copycat_executor.kafka.connections import warn_unknown
from copycat_executor.kafka.producer import KafkaSender
from copycat_executor.pipeline.records.dead_letter import DeadLetterQueue, LetterOf
from copycat_executor.pipeline.task.control import TaskControl
from copycat_executor.pipeline.task.measures import Measures
from copycat_executor.pipeline.task.timing import Timing
from copycat_executor.taskhost.order import TaskOrder

_log = logging.getLogger(__name__)


def dead_letter_queue(
    order: TaskOrder,
    settings: Mapping[str, ConfigSetting],
    control: TaskControl,
    letters: Callable[[], LetterOf],
    measures: Measures,
) -> tuple[DeadLetterQueue | None, Callable[[], None]]:
    """Make the dead letter queue, where the connector names one, and what closes it; `letters` reads records.

    Raises:
        ConnectError: Its topic is missing and cannot be created.
    """
    topic: str = settings[names.DLQ_TOPIC]
    if not topic:
        return None, _nothing
    admin = admin_config(
        order.worker_config, order.connector_config, f"connector-dlq-adminclient-{order.task_id}"
    )
    ensure_dead_letter_topic(KafkaTopics(admin), topic, settings[names.DLQ_REPLICATION_FACTOR])
    config = producer_config(
        order.worker_config, order.connector_config, f"connector-dlq-producer-{order.task_id}"
    )
    warn_unknown("dead letter producer", config)
    # Failures come back to the queue itself, record by record.
    sender = KafkaSender(
        config,
        on_failure=lambda *_: None,
        draining=lambda: control.stopping,
        report_each=True,
        replaced=lambda: measures.note("deadletterqueue-producer-replaced-total"),
    )
    queue = DeadLetterQueue(
        sender,
        topic,
        order.connector,
        order.task,
        letter_of=letters(),
        context_headers=settings[names.DLQ_CONTEXT_HEADERS],
        measures=measures,
        scrub=order.secrets.scrub,
    )
    patience = Timing.parse(order.worker_config).flush_timeout

    def close() -> None:
        # What failed the task is among them, and no commit waited for it.
        if not control.dropped and not queue.settle(patience, measures.clock):
            _log.warning("Records were not written to the dead letter queue %s in time", topic)
        sender.close()

    return queue, close


def _nothing() -> None:
    """Nothing is to be closed."""
