"""REST extensions: found, started, and asked about every request."""
