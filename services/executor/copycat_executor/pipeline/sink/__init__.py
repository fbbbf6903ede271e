"""The path of a sink record: read, converted, transformed, put; then its position is acknowledged."""
