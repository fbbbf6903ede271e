"""Built-in connectors and converters."""
