"""Values as text and back, by the rules Kafka Connect's header converter and transformations share."""
