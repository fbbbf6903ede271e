"""The converters and transformations of the record-path rows; the same on both systems."""

from __future__ import annotations

from typing import Final

STRING: Final = "org.apache.kafka.connect.storage.StringConverter"
JSON: Final = "org.apache.kafka.connect.json.JsonConverter"
_TRANSFORMS: Final = "org.apache.kafka.connect.transforms"

JSON_PLAIN: Final = {"value.converter": JSON, "value.converter.schemas.enable": "false"}
JSON_SCHEMAS: Final = {"value.converter": JSON, "value.converter.schemas.enable": "true"}
_INSERT: Final = {
    "transforms.insert.type": f"{_TRANSFORMS}.InsertField$Value",
    "transforms.insert.static.field": "site",
    "transforms.insert.static.value": "north",
}
TOPIC_TO_FILE_JSON_4SMT: Final = {
    **JSON_PLAIN,
    **_INSERT,
    "transforms": "insert,mask,replace,cast",
    "transforms.mask.type": f"{_TRANSFORMS}.MaskField$Value",
    "transforms.mask.fields": "user",
    "transforms.replace.type": f"{_TRANSFORMS}.ReplaceField$Value",
    "transforms.replace.exclude": "agent",
    "transforms.cast.type": f"{_TRANSFORMS}.Cast$Value",
    "transforms.cast.spec": "ms:string",
}
FILE_TO_TOPIC_JSON_2SMT: Final = {
    **JSON_PLAIN,
    **_INSERT,
    "transforms": "hoist,insert",
    "transforms.hoist.type": f"{_TRANSFORMS}.HoistField$Value",
    "transforms.hoist.field": "line",
}
