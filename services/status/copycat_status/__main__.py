"""`python -m copycat_status worker.properties`."""

import sys

from copycat_status.main import main

sys.exit(main())
