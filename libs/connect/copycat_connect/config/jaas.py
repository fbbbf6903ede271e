"""The options of `sasl.jaas.config`, as Kafka's Java clients write them."""

from __future__ import annotations

import re
from typing import Final

_OPTION: Final = re.compile(
    r"""(?<![\w.])([\w.]++)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.)*+)'|([^\s;"']+))"""
)


def login_options(jaas: str) -> dict[str, str]:
    r"""Return the options of a login module; in quotes, `\` stands before a quote or another `\`."""
    return {
        name: re.sub(r"\\(.)", r"\1", double or single) or bare
        for name, double, single, bare in _OPTION.findall(jaas)
    }
