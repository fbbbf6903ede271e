from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.spec import PluginKind
from copycat_executor.connectorhost.instance import check_creation_keys

KEYS = {
    "name": "c",
    "topic.creation.default.partitions": "1",
    "topic.creation.default.replication.factor": "1",
}
WRONG = {**KEYS, "topic.creation.default.partitions": "0"}


def test_keys_that_work_need_no_word(caplog: pytest.LogCaptureFixture) -> None:
    check_creation_keys(PluginKind.SOURCE, KEYS, {})

    assert not caplog.records


def test_a_wrong_value_is_refused() -> None:
    with pytest.raises(ConfigError, match="Number of partitions must be positive"):
        check_creation_keys(PluginKind.SOURCE, WRONG, {})


@pytest.mark.parametrize(
    ("kind", "config", "worker", "said"),
    [
        (PluginKind.SINK, WRONG, {}, "sink connectors create no topics"),
        (PluginKind.SOURCE, WRONG, {"topic.creation.enable": "false"}, "has topic.creation.enable=false"),
        (PluginKind.SOURCE, {**KEYS, "topic.creation.groups": "default"}, {}, "lists default"),
        (PluginKind.SOURCE, {"topic.creation.groups": "a"}, {"kip.strict": "true"}, "without both sizes"),
    ],
)
def test_keys_without_effect_are_named(
    kind: PluginKind,
    config: dict[str, str],
    worker: dict[str, str],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    check_creation_keys(kind, config, worker)

    assert [said in record.getMessage() for record in caplog.records] == [True]
