"""The services of a large cluster: real ones on a real Kafka, workers that only pretend to run tasks."""
