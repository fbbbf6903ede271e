"""The Spark session and the launch of hosts on it: the only package that imports pyspark."""
