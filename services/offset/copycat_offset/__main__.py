"""`python -m copycat_offset worker.properties`."""

import sys

from copycat_offset.main import main

sys.exit(main())
