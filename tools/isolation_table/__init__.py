"""What one user, one record or one topic can do to a running system, and what its other connectors notice."""
