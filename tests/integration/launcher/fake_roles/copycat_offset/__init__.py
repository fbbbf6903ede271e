"""The offset, faked."""
