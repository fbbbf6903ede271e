"""The Spark session and the launch of hosts on it: the only room that imports pyspark."""
