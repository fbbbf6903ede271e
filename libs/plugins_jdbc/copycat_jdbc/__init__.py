"""What the JDBC connectors share: addresses of databases, connections, errors, types and names."""
