"""Who this program is to its own REST interface, where that asks who calls."""

from __future__ import annotations

import base64
import os

from copycat_cli.credentials import TOKEN_VARIABLE, VARIABLE, Login, Token, login


def own_user() -> Login | None:
    """Return what COPYCAT_TOKEN says, or COPYCAT_USER.

    Raises:
        CliError: The one is not one word, or the other not NAME:PASSWORD.
    """
    return login(os.environ.get(VARIABLE), os.environ.get(TOKEN_VARIABLE))


def own_headers() -> dict[str, str]:
    """Return the headers that say so."""
    user = own_user()
    if user is None:
        return {}
    if isinstance(user, Token):
        return {"Authorization": f"Bearer {user.text}"}
    return {"Authorization": f"Basic {base64.b64encode(':'.join(user).encode()).decode()}"}
