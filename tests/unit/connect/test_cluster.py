import pytest
from copycat_connect.cluster import (
    GROUP_OVERRIDE,
    INITIAL_STATES,
    Config,
    Instance,
    TargetState,
    in_order,
    sink_group,
)


def test_a_connector_is_named_by_itself_and_a_task_with_its_number() -> None:
    assert str(Instance("orders")) == "orders"
    assert f"{Instance('orders', 0)}" == "orders-0"


def test_a_connector_comes_before_its_tasks_and_tasks_come_by_number() -> None:
    given = [Instance("b"), Instance("a", 10), Instance("a", 9), Instance("a")]

    assert in_order(given) == [Instance("a"), Instance("a", 9), Instance("a", 10), Instance("b")]


def test_the_initial_states_of_a_request_are_target_states_but_for_running() -> None:
    assert dict(INITIAL_STATES) == {
        "RUNNING": TargetState.STARTED,
        "PAUSED": TargetState.PAUSED,
        "STOPPED": TargetState.STOPPED,
    }


@pytest.mark.parametrize("config", [{}, {GROUP_OVERRIDE: None}, {GROUP_OVERRIDE: ""}, {GROUP_OVERRIDE: "  "}])
def test_a_sink_has_a_group_of_its_own_name(config: Config) -> None:
    assert sink_group("orders", config) == "connect-orders"


def test_a_sink_may_name_its_group() -> None:
    assert sink_group("orders", {GROUP_OVERRIDE: " mine "}) == "mine"
