"""Packages of plugins in the Python environment that Copycat runs in: add them, list them, remove them.

Plugins live beside Copycat's own packages, which keep their versions whatever a plugin asks for. What was
added is written down outside the environment, so that it can be installed again when that was made anew.
"""
