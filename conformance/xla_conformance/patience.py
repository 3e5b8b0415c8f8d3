"""The factor of all time limits, for devices that are slow, such as a simulator: `xla conform --patience N`."""

from __future__ import annotations

import os

VARIABLE = "XLA_CONFORM_PATIENCE"
"""The environment variable by which the command gives the factor to the processes that run the tests."""

FACTOR = float(os.environ.get(VARIABLE, "1"))
"""The factor in this process, by which each time limit within a test is multiplied."""
