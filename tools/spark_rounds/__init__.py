"""What processes of connectors on Spark may suffer, and which records are lost or repeated by that."""
