"""The names of log levels, and what `log.level` takes."""

from __future__ import annotations

import logging

import pytest
from copycat_connect.config import ConfigDef
from copycat_connect.config.worker_keys import LOG_LEVEL
from copycat_connect.errors import ConfigError
from copycat_connect.log_levels import LEVELS, level_name, level_named


def test_levels_are_ordered_and_off_is_above_all_that_is_logged() -> None:
    assert list(LEVELS) == ["OFF", "FATAL", "ERROR", "WARN", "INFO", "DEBUG", "TRACE", "ALL"]
    assert sorted(LEVELS.values(), reverse=True) == list(LEVELS.values())
    assert LEVELS["OFF"] > logging.CRITICAL


@pytest.mark.parametrize("name", LEVELS)
def test_a_level_is_found_by_name_in_any_case_and_named_by_its_threshold(name: str) -> None:
    assert level_named(name.lower()) == name
    assert level_name(LEVELS[name]) == name


def test_a_threshold_between_two_levels_has_the_name_of_the_lower() -> None:
    assert (level_name(35), level_name(0)) == ("WARN", "ALL")


@pytest.mark.parametrize("value", ["trace", "OFF", "Warn", "WARNING", "critical"])
def test_log_level_takes_the_names_of_log4j_and_of_python(value: str) -> None:
    assert ConfigDef(LOG_LEVEL).parse({"log.level": value})["log.level"] == value


def test_an_unknown_log_level_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"loud for configuration log\.level: .*OFF, FATAL, ERROR, WARN"):
        ConfigDef(LOG_LEVEL).parse({"log.level": "loud"})
