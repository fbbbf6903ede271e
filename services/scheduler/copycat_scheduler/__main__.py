"""`python -m copycat_scheduler worker.properties`."""

import sys

from copycat_scheduler.main import main

sys.exit(main())
