"""Tasks whose records Spark reads: each has a driver for itself, of which a worker runs so many."""

from __future__ import annotations

from tests.contract.executor.world import world

SPARK = {"connector.class": "copycat_probe.ProbeSparkSourceConnector", "tasks.max": "8"}


async def test_a_task_that_spark_reads_for_runs_in_a_driver_and_no_task_host() -> None:
    async with world() as it:
        await it.run_task("orders")
        assert not it.drivers.hosts  # nothing runs while there is no such task
        await it.run_task("lake", SPARK)
        assert it.drivers.of("lake-0").refs() == ["lake-0"]
        assert it.launcher.of("orders-0").refs() == ["orders-0"]
        assert len(it.drivers.hosts) == 1


async def test_a_driver_that_dies_is_replaced_and_ends_with_its_connector() -> None:
    async with world() as it:
        await it.run_task("lake", {**SPARK, "connector.class": "ProbeSparkSource"})
        first = it.drivers.of("lake-0")
        first.die()
        await it.until(lambda: it.drivers.of("lake-0") is not first, "another driver")
        await it.status_is("RUNNING", "lake", 0)
        it.config.delete("lake")
        await it.until(it.drivers.hosts[-1].life.done, "the driver has ended")
        assert not it.launcher.hosts


async def test_a_task_without_a_driver_waits_and_says_for_what() -> None:
    async with world(drivers=1) as it:
        await it.run_task("lake", SPARK)
        it.config.put("sea", SPARK, [{"index": "0"}])
        it.scheduler.assign(it.worker, "sea", 0)
        await it.until(lambda: any(told.connector == "sea" for told in it.status.troubles), "it waits")
        (told,) = it.status.troubles
        assert "spark.drivers.max" in told.text
        it.config.delete("lake")
        await it.status_is("RUNNING", "sea", 0)
