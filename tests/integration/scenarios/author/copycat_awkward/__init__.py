"""Plugins nobody should write: they hang before they can be told to, or cannot be made."""
