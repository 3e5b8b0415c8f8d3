"""`python -m xla_core.cli` is `xla`."""

import sys

from xla_core.cli import main

sys.exit(main())
