import pytest
from copycat_connect.cluster import (
    GROUP_OVERRIDE,
    GRPC_PORTS,
    INITIAL_STATES,
    Config,
    Instance,
    TargetState,
    default_address,
    in_order,
    is_wildcard,
    sink_group,
)
from copycat_connect.config.worker_keys import addresses_key, listen_key


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


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "[::]"])  # noqa: S104 - asked about, not bound
def test_a_host_that_stands_for_every_address_cannot_be_reached(host: str) -> None:
    assert is_wildcard(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "executor-1"])
def test_another_host_can_be_reached(host: str) -> None:
    assert not is_wildcard(host)


@pytest.mark.parametrize("role", GRPC_PORTS)
def test_a_role_listens_where_the_others_look_for_it(role: str) -> None:
    assert listen_key(role).default == default_address(role)
    assert addresses_key(role).default == [default_address(role)]
