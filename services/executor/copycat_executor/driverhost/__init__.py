"""A driver of Spark: a host with a Spark session of its own, for one task whose records Spark reads."""
