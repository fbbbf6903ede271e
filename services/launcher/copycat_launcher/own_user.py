"""Who this program is to its own REST interface, where that asks for a name and a password."""

from __future__ import annotations

import base64
import os

from copycat_cli.credentials import VARIABLE, Credentials, credentials


def own_user() -> Credentials | None:
    """Return what COPYCAT_USER says.

    Raises:
        CliError: It is not NAME:PASSWORD.
    """
    return credentials(os.environ.get(VARIABLE))


def own_headers() -> dict[str, str]:
    """Return the headers that say so."""
    user = own_user()
    if user is None:
        return {}
    return {"Authorization": f"Basic {base64.b64encode(':'.join(user).encode()).decode()}"}
