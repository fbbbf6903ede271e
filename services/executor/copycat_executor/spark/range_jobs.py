"""Jobs that write ranges of records, in the session of a driver of Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from copycat_executor.spark.launcher import spark_reason
from copycat_executor.spark.session import TaggedJobs


class ShareWork(Protocol):
    """What a partition of Spark does by itself; it travels by pickle."""

    def __call__(self) -> bytes:
        """Work in a process of Spark; returns a report."""


class JobLostError(Exception):
    """A job ended without its reports, since a partition was lost or it was cancelled."""


class RangeJobs(TaggedJobs):
    """Runs jobs, each cancelled by its tag."""

    def run(self, works: Sequence[ShareWork], tag: str) -> list[bytes]:
        """Have each work done in a partition of its own, and return the reports in order; blocks.

        Raises:
            JobLostError: The job failed or was cancelled.
        """
        context = self._spark.context
        with self.tagged(tag):
            try:
                reports: list[bytes] = context.parallelize(works, len(works)).map(_report_of).collect()
            except (PySparkException, Py4JError, OSError) as error:
                self._spark.look()
                raise JobLostError(spark_reason(error)) from error
        return reports


def _report_of(work: ShareWork) -> bytes:
    return work()
