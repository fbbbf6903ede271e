"""The executor, faked."""
