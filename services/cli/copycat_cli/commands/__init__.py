"""The commands: one family a module."""
