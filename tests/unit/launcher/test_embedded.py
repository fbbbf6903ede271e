"""An embedded copy that cannot start says why, and leaves the process as it was."""

from __future__ import annotations

import pytest
from copycat_connect.errors import ConfigError
from copycat_launcher.embedded import Copycat
from copycat_launcher.errors import StartError

NOWHERE = "127.0.0.1:1"


def test_a_start_without_brokers_names_them_and_makes_room_for_another() -> None:
    for _ in range(2):
        with pytest.raises(StartError, match=f"No broker of bootstrap.servers={NOWHERE} answers"):
            Copycat("orders", NOWHERE).start()


def test_a_copy_starts_once() -> None:
    copy = Copycat("orders", NOWHERE)
    with pytest.raises(StartError, match="No broker"):
        copy.start()
    with pytest.raises(StartError, match=r"Copycat\('orders'\) cannot start: this process has started"):
        copy.start()


def test_what_has_not_started_can_be_stopped_and_refuses_calls() -> None:
    copy = Copycat("orders")
    copy.stop()
    with pytest.raises(StartError, match=r"Copycat\('orders'\) does not run\. Call start"):
        copy.connectors()


def test_the_end_of_a_copy_that_failed_is_told_where_it_is_waited_for() -> None:
    copy = Copycat("orders", NOWHERE)
    with pytest.raises(StartError):
        copy.start()
    with pytest.raises(StartError, match="No broker"):
        copy.join(5)


def test_an_empty_app_id_is_refused() -> None:
    with pytest.raises(ConfigError, match="The app id is empty"):
        Copycat("")
