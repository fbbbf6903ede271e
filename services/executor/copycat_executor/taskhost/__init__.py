"""What runs inside a Spark Python worker: task threads and the control stream to the executor."""
