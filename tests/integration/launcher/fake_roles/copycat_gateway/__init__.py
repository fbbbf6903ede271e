"""The gateway, faked."""
