"""What the converters of a schema registry share: settings, the client, subjects, the bytes in front."""
