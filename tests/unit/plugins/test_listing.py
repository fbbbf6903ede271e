"""Plugins are listed in every process, and made in few: a listing loads none of their libraries."""

from __future__ import annotations

import subprocess
import sys

LIBRARIES = (
    "avro", "boto3", "botocore", "confluent_kafka", "fastavro", "google", "grpc", "grpc_tools", "httpx2",
    "jsonschema", "numpy", "psycopg", "pyarrow", "pymysql", "pyspark", "referencing", "requests",
    "sqlalchemy",
)  # fmt: skip


def test_listing_plugins_loads_none_of_their_libraries() -> None:
    script = (
        "import sys; from copycat_connect.plugin import load_plugins; load_plugins(); "
        f"print([name for name in {LIBRARIES!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
