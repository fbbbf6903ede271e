"""Plugins nobody should write: they hang before they can be stopped, or cannot be made."""
