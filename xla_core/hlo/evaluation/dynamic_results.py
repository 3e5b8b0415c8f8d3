"""Records which results of a static program are arrays of dynamic size, and which further results hold those sizes.

The record is a frontend attribute of the module, so that it stays with the module wherever that is copied.
"""

from __future__ import annotations

from collections.abc import Mapping

from xla_core.hlo.ir.module import HloModule

_ATTRIBUTE = "dynamic_results"


def set_dynamic_results(module: HloModule, count: int, sizes: Mapping[int, Mapping[int, int]]) -> None:
    """Records the dynamic results.

    Args:
        count: the number of the program's own results; the results after them are sizes.
        sizes: for each dynamic result, a map from its dynamic dimensions to the numbers of the results that hold the
            sizes.
    """
    entries = [f"{result},{d},{size}" for result, each in sorted(sizes.items()) for d, size in sorted(each.items())]
    module.frontend_attributes[_ATTRIBUTE] = ";".join([str(count), *entries])


def dynamic_results(module: HloModule) -> tuple[int, dict[int, dict[int, int]]]:
    """Returns what `set_dynamic_results` recorded. Without a record, all results are the program's own and static."""
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
