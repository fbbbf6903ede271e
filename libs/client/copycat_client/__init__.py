"""Typed asynchronous client of Copycat's gRPC services."""
