"""Lists of names that must not be empty, but may repeat a name."""

from __future__ import annotations

from copycat_connect.config import distinct_names
from copycat_connect.config.setting import ConfigSetting

_check = distinct_names(allow_empty=False)


def some_names(name: str, value: ConfigSetting) -> None:
    """Accept lists with a name in them.

    Raises:
        ConfigError: It is missing, or empty.
    """
    _check(name, value if value is None else list(dict.fromkeys(value)))
