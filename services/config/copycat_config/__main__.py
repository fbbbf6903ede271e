"""`python -m copycat_config worker.properties`."""

import sys

from copycat_config.main import main

sys.exit(main())
