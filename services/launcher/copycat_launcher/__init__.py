"""The commands: copycat up, copycat standalone, copycat-worker."""
