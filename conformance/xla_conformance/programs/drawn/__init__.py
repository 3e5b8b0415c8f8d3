"""Programs that are drawn by chance: ops that share values, calls, loops, branches, tuples, and mixed types."""

from xla_conformance.programs.drawn.planted import planted_programs
from xla_conformance.programs.drawn.programs import drawn_programs

__all__ = ["drawn_programs", "planted_programs"]
