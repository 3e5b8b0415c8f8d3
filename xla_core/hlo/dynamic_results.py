"""Results of a static program that hold arrays of dynamic size: which, and which further results are their sizes.

The record is a frontend attribute of the module, so that it goes wherever the module goes.
"""

from __future__ import annotations

from collections.abc import Mapping

from xla_core.hlo.module import HloModule

__all__ = ["dynamic_results", "set_dynamic_results"]

_ATTRIBUTE = "dynamic_results"


def set_dynamic_results(module: HloModule, count: int, sizes: Mapping[int, Mapping[int, int]]) -> None:
    """`count` results are the program's own; `sizes` has for each dynamic one: dimension -> number of the result that
    is its size.
    """
    entries = [f"{result},{d},{size}" for result, each in sorted(sizes.items()) for d, size in sorted(each.items())]
    module.frontend_attributes[_ATTRIBUTE] = ";".join([str(count), *entries])


def dynamic_results(module: HloModule) -> tuple[int, dict[int, dict[int, int]]]:
    """What `set_dynamic_results` was told; all results, and none dynamic, where it wasn't."""
    text = module.frontend_attributes.get(_ATTRIBUTE)
    if text is None:
        shape = module.result_shape
        return len(shape.tuple_shapes) if shape.is_tuple else 1, {}
    count, *entries = text.split(";")
    sizes: dict[int, dict[int, int]] = {}
    for entry in entries:
        result, dimension, size = map(int, entry.split(","))
        sizes.setdefault(result, {})[dimension] = size
    return int(count), sizes
