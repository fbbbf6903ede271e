"""The offset service in a process that it shares, faked."""

from functools import partial

import fake_role

serve = partial(fake_role.serve, "offset")
