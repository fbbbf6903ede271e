"""What the three connectors of MirrorMaker share: names of topics, filters, internal records, clients."""
