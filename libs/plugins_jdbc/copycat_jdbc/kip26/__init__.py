"""The JDBC source as KIP-26 shows it in its sample of an application."""
