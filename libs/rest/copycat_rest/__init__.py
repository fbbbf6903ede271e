"""Where and how the REST interface is reached: listeners, the advertised address, TLS."""
