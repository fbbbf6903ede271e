"""Records in files of a store, by topic, partition and offset: what the object connectors share."""
