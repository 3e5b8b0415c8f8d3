"""Programs that are drawn by chance: ops that share values, calls, loops, branches, tuples, mixed types, and trees."""

from xla_conformance.programs.drawn.planted import planted_programs
from xla_conformance.programs.drawn.programs import drawn_programs
from xla_conformance.programs.drawn.trees import drawn_trees

__all__ = ["drawn_programs", "drawn_trees", "planted_programs"]
