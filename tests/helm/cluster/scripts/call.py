"""`call.py METHOD PATH` sends its input to the gateway, and says the status and what was answered.

Runs in a pod, on Python's own library alone.
"""

from __future__ import annotations

import http.client
import sys

connection = http.client.HTTPConnection("copycat-gateway:8083", timeout=60)
connection.request(sys.argv[1], sys.argv[2], sys.stdin.read() or None, {"Content-Type": "application/json"})
reply = connection.getresponse()
print(reply.status)
print(reply.read().decode())
