"""Records which results of a static program are arrays of dynamic size, and which further results hold those sizes.

The record is a frontend attribute of the module, so that it stays with the module wherever that is copied. Its name has
xla_core's prefix, so that it is no attribute of a user's.
"""

from __future__ import annotations

from collections.abc import Mapping

from xla_core.checks import counted
from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.module import HloModule

_ATTRIBUTE = "xla_core.dynamic_results"


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
    """Returns what `set_dynamic_results` recorded. Without a record, all results are the program's own and static.

    Raises:
        InvalidArgumentError: for a record, read from the program's text, that doesn't fit the program's results.
    """
    text = module.frontend_attributes.get(_ATTRIBUTE)
    shape = module.result_shape
    results = shape.tuple_shapes if shape.is_tuple else (shape,)
    if text is None:
        return len(results), {}
    count, *entries = text.split(";")
    sizes: dict[int, dict[int, int]] = {}
    try:
        own = int(count)
        for entry in entries:
            result, dimension, size = map(int, entry.split(","))
            sizes.setdefault(result, {})[dimension] = size
            if not (0 <= result < own <= size < len(results) and 0 <= dimension < results[result].rank):
                raise ValueError
        if not 0 <= own <= len(results):
            raise ValueError
    except ValueError:
        raise InvalidArgumentError(
            f"the frontend attribute {_ATTRIBUTE}={text!r} doesn't fit the program's {counted(len(results), 'result')}",
            hint="the core writes it for programs with results of dynamic size: leave it out",
        ) from None
    return own, sizes
