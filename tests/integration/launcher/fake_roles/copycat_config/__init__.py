"""The config, faked."""
