"""`python -m copycat_gateway worker.properties`."""

import sys

from copycat_gateway.main import main

sys.exit(main())
