"""What processes may suffer while records flow, and which records are lost or repeated by that."""
