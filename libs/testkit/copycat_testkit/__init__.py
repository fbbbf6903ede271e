"""Service laws, conformance suites and fakes for tests."""
