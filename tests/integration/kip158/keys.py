"""Topic creation keys as tests write them."""

from __future__ import annotations

DEFAULT = {
    "topic.creation.default.partitions": "3",
    "topic.creation.default.replication.factor": "1",
}


def creation(**keys: str) -> dict[str, str]:
    """Return keys with defaults; `a__partitions="1"` stands for `topic.creation.a.partitions`."""
    return {
        **DEFAULT,
        **{
            "topic.creation." + name.replace("__", ".").replace("_", "."): value
            for name, value in keys.items()
        },
    }
