"""xla-core: the way a hardware vendor brings a new chip to machine learning."""

from xla_core.errors import *  # noqa: F403  (the error hierarchy is public as a whole)
