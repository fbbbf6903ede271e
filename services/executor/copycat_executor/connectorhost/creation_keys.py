"""`topic.creation.*` keys of a connector that starts: wrong ones are refused, idle ones named."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from copycat_connect.cluster import Config
from copycat_connect.config import ConfigDef
from copycat_connect.config.framework_names import TOPIC_CREATION_PREFIX
from copycat_connect.config.topic_creation import DEFAULT_GROUP, creation_groups, creation_warnings
from copycat_connect.config.worker_keys import KIP_STRICT, TOPIC_CREATION
from copycat_connect.plugin.spec import PluginKind

log = logging.getLogger(__name__)


def check_creation_keys(kind: PluginKind, config: Config, worker: Mapping[str, str]) -> None:
    """Check the keys as Kafka Connect does when a connector starts, and warn of those without effect.

    Raises:
        ConfigError: The worker creates topics, and a key is missing or wrong.
    """
    for warning in _warnings(kind, config, worker):
        log.warning("connector %s: %s", config.get("name"), warning)


def _warnings(kind: PluginKind, config: Config, worker: Mapping[str, str]) -> Iterator[str]:
    if not any(key.startswith(TOPIC_CREATION_PREFIX) for key in config):
        return
    if kind is PluginKind.SINK:
        yield f"{TOPIC_CREATION_PREFIX}* keys have no effect: sink connectors create no topics"
        return
    switches = ConfigDef(KIP_STRICT, TOPIC_CREATION).parse(worker)
    if not switches[TOPIC_CREATION.name]:
        yield f"{TOPIC_CREATION_PREFIX}* keys have no effect: the worker has {TOPIC_CREATION.name}=false"
    elif creation_groups(config, strict=switches[KIP_STRICT.name]) is None:
        yield f"{TOPIC_CREATION_PREFIX}* keys have no effect without both sizes of the group {DEFAULT_GROUP}"
    else:
        yield from creation_warnings(config)
