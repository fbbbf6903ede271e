"""The status, faked."""
