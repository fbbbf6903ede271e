"""BasicAuthSecurityRestExtension: a name and a password for the REST interface."""
