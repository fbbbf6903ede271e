"""The other services: connections to them, their messages, and which of their failures pass."""
