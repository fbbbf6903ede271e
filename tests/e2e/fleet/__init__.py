"""A fleet without more: what failures cost it, and what goes through it."""
