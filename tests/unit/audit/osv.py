"""A service with OSV's interface, as its documentation describes it, that knows one vulnerability."""

from __future__ import annotations

import json
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

NUMBER = "GHSA-1"


def known(ecosystem: str, name: str) -> dict[str, Any]:
    """Return the record of the one vulnerability."""
    events = [{"introduced": "0"}, {"fixed": "2.0"}]
    return {
        "id": NUMBER,
        "modified": "2026-01-01T00:00:00Z",
        "aliases": ["CVE-1"],
        "summary": "Reads along.",
        "details": "Reads along.\nAlways.",
        "affected": [
            {
                "package": {"ecosystem": ecosystem, "name": name},
                "ranges": [{"type": "ECOSYSTEM", "events": events}],
            }
        ],
    }


def serve(server: HTTPServer, ecosystem: str, name: str) -> str:
    """Have a server know a vulnerability of every version of a package below 2.0; returns its address."""

    def answer(request: Request) -> Response:
        queries = request.get_json()["queries"]
        hits = [each["package"] == {"ecosystem": ecosystem, "name": name} for each in queries]
        found = {"vulns": [{"id": NUMBER, "modified": "2026-01-01T00:00:00Z"}]}
        body = {"results": [found if hit else {} for hit in hits]}
        return Response(response=json.dumps(body), content_type="application/json")

    server.expect_request("/v1/querybatch", method="POST").respond_with_handler(answer)
    server.expect_request(f"/v1/vulns/{NUMBER}").respond_with_json(known(ecosystem, name))
    return str(server.url_for("")).rstrip("/")
