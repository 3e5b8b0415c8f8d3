"""optimize_input_output_buffer_alias: aliases results with donated parameters (XLA: the pass of the same name)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xla_core.hlo.ir.module import HloModule, InputOutputAlias
from xla_core.hlo.values.shape import Shape
from xla_core.passes.pass_manager import HloPass

_ShapeIndex = tuple[int, ...]


class OptimizeInputOutputBufferAlias(HloPass):
    """Aliases `module.buffer_donors` with results that have no alias: first those of equal shape, then of equal size.

    A donor without a matching result remains a donor, whose memory may only be freed.
    """

    def __init__(self, size: Callable[[Shape], int] | None = None) -> None:
        self._size = size or (lambda shape: shape.byte_size)

    def run(self, module: HloModule) -> bool:
        if not module.buffer_donors:
            return False
        bound = {a.output_index for a in module.input_output_aliases}
        free = {index: shape for index, shape in _leaves(module.result_shape) if index not in bound and shape.is_array}
        taken = {(a.parameter_number, a.parameter_index) for a in module.input_output_aliases}
        donors = {
            (number, index): shape
            for number, parameter in enumerate(module.entry.parameters)
            for index, shape in _leaves(parameter.shape)
            if (number, index) in set(module.buffer_donors) and (number, index) not in taken and self._size(shape)
        }
        changed = False
        tests: tuple[Callable[[Shape, Shape], bool], ...] = (
            lambda a, b: a == b,
            lambda a, b: self._size(a) == self._size(b) and _space(a) == _space(b),
        )
        for fits in tests:
            for donor, shape in list(donors.items()):
                for index, result in free.items():
                    if fits(shape, result):
                        module.input_output_aliases.append(InputOutputAlias(index, *donor))
                        module.buffer_donors.remove(donor)
                        del free[index], donors[donor]
                        changed = True
                        break
        return changed


def _space(shape: Shape) -> int:
    return 0 if shape.layout is None else shape.layout.memory_space


def _leaves(shape: Shape, prefix: _ShapeIndex = ()) -> Iterator[tuple[_ShapeIndex, Shape]]:
    if not shape.is_tuple:
        yield prefix, shape
    for i, element in enumerate(shape.tuple_shapes):
        yield from _leaves(element, (*prefix, i))
