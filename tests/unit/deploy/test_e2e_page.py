"""The table of what failures cost in containers has one row for what is done to each service with a log."""

from __future__ import annotations

from tools.containers.strike import Outcome, page_rows


def test_what_is_done_to_each_service_with_a_log_is_one_row() -> None:
    measured = [
        Outcome("clock of config an hour ahead", 0, 15.24, 0),
        Outcome("clock of scheduler an hour ahead", 0, 25.0, 4),
        Outcome("executor killed", 0, 1.9, 20),
        Outcome("leader of config cut off", 9.9, 20.4, 0),
        Outcome("leader of status cut off", 0, 20.4, 0),
    ]

    assert page_rows(measured) == [
        ("clock of config, scheduler an hour ahead", "-", "15.2 to 25.0", "0 to 4"),
        ("executor killed", "-", "1.9", "20"),
        ("leader of config, status cut off", "0.0 to 9.9", "20.4", "0"),
    ]
