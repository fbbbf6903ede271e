"""Who may do what: tokens of an issuer, roles by connector name, audit lines."""
