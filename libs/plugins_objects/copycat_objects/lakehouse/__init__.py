"""Tables of a lake: what the connectors that read and write them share."""
