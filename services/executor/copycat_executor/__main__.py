"""`python -m copycat_executor worker.properties`."""

import sys

from copycat_executor.main import main

sys.exit(main())
