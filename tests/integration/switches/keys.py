"""The switch of KIP-158, and keys of connectors that it makes idle."""

from __future__ import annotations

CREATION = "topic.creation.enable"
KEYS_OF_DEFAULT = {
    "topic__creation__default__partitions": "3",
    "topic__creation__default__replication__factor": "1",
}
