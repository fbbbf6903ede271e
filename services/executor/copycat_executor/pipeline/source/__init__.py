"""The path of a source record: polled, transformed, converted, sent; then its offset is acknowledged."""
