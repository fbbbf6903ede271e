"""A whole Copycat in containers, on real brokers in containers: what it does, and what failures cost it."""
