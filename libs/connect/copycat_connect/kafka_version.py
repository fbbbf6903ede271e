"""The release of Apache Kafka whose Connect interface Copycat offers.

REST reports it at `/`, and so do the plugins that carry Kafka's class names: clients compare it with the
release that brought a feature, and configurations ask for it in `connector.plugin.version` (KIP-891).
"""

from __future__ import annotations

from typing import Final

KAFKA_VERSION: Final = "4.4.0"
KAFKA_COMMIT: Final = "1156b2752aaa28ea"
"""The commit of that release, as `kafka/kafka-version.properties` in its kafka-clients jar has it."""
