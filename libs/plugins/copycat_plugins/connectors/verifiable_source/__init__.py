"""VerifiableSource: numbers as records, each printed when it is sent and when it is safe."""
