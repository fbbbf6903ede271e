"""The text of .proto files, compiled: protoc, which grpcio-tools has as a library, does it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Final

from confluent_kafka.schema_registry.confluent import meta_pb2
from confluent_kafka.schema_registry.confluent.type import decimal_pb2
from copycat_avro.schema_text import SchemaText
from copycat_connect.errors import DataError
from google.protobuf import (
    any_pb2,
    descriptor_pool,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.type import date_pb2, datetime_pb2, latlng_pb2, money_pb2, timeofday_pb2
from grpc_tools import protoc

#: What a schema may import without a reference: registries know these files.
_KNOWN: Final[tuple[ModuleType, ...]] = (
    any_pb2, date_pb2, datetime_pb2, decimal_pb2, duration_pb2, empty_pb2, field_mask_pb2, latlng_pb2,
    meta_pb2, money_pb2, struct_pb2, timeofday_pb2, timestamp_pb2, wrappers_pb2,
)  # fmt: skip
_ROOT: Final = "registered.proto"
_one_at_a_time = Lock()  # protoc keeps state of its own


def compile_schema(schema: SchemaText) -> FileDescriptor:
    """Compile a registered schema with those it refers to.

    Raises:
        DataError: It is not valid, or refers to what is not there.
    """
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        known = FileDescriptorSet(file=_known_files())
        (place / "known").write_bytes(known.SerializeToString())
        for name, text in _files(_ROOT, schema):
            file = place / "files" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        compiled = place / "compiled"
        arguments = [f"--proto_path={place / 'files'}", f"--descriptor_set_in={place / 'known'}"]
        with _one_at_a_time:
            failed = protoc.main([
                "protoc", *arguments, "--include_imports", f"--descriptor_set_out={compiled}", _ROOT
            ])  # fmt: skip
        if failed:
            raise DataError(
                "The Protobuf schema is not valid, or imports what it has no reference for: protoc's words "
                "are in the output of this process. Look at the schema in the registry."
            )
        files = FileDescriptorSet.FromString(compiled.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for each in files.file:
        pool.AddSerializedFile(each.SerializeToString())
    return pool.FindFileByName(_ROOT)


def _files(name: str, schema: SchemaText) -> Iterator[tuple[str, str]]:
    yield name, schema.text
    for reference_name, reference in schema.references:
        yield from _files(reference_name, reference)


def _known_files() -> list[FileDescriptorProto]:
    found: dict[str, FileDescriptorProto] = {}

    def add(file: FileDescriptor) -> None:
        if file.name not in found:
            for each in file.dependencies:
                add(each)
            found[file.name] = FileDescriptorProto.FromString(file.serialized_pb)

    for module in _KNOWN:
        add(module.DESCRIPTOR)
    return list(found.values())
