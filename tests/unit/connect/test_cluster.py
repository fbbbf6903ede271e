from copycat_connect.cluster import INITIAL_STATES, Instance, TargetState, in_order


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
