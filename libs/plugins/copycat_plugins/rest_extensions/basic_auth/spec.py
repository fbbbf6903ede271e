"""BasicAuthSecurityRestExtension: what it is called and how it is configured."""

from __future__ import annotations

from copycat_connect.config import HIGH, STRING, ConfigDef, ConfigKey

CLASS_NAME = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"

FILE = "rest.basic.auth.file"

SUMMARY = "Lets only those use the REST interface who have a name and a password (HTTP basic authentication)."
GUARANTEES = (
    "Every request is checked but the internal ones of Connect's workers (POST /connectors/{name}/tasks "
    "and PUT /connectors/{name}/fence), which ask for a signature. A refusal is 401 with the text `User "
    "cannot access the resource.` and, unless tokens are accepted beside it, no WWW-Authenticate header. "
    "The file is read once, at the start; an empty one lets everybody in. Passwords travel unhidden: listen "
    "on loopback, or behind TLS."
)
CONFIG = ConfigDef(
    ConfigKey(
        FILE,
        STRING,
        HIGH,
        default=None,
        doc=(
            "Properties file with one `user=password` a line; required. In Kafka Connect the JAAS file names "
            'it, as option `file="..."` of `PropertyFileLoginModule` in the entry `KafkaConnect`.'
        ),
    ),
)
EXAMPLES = {
    "Worker properties": {"rest.extension.classes": CLASS_NAME, FILE: "/etc/copycat/users.properties"},
}
