"""BoundedModule: HLO whose parameters have bounded dynamic dimensions, compiled for the sizes of each call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.evaluation.dynamic_shape_program import DynamicShapeProgram
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.entry import donated_parameters, flatten_entry
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.table.attributes import PaddingDimension
from xla_core.hlo.table.opcode import Opcode
from xla_core.hlo.values.literal import Literal
from xla_core.hlo.values.shape import INT_MAX, Shape


class BoundedModule(DynamicShapeProgram):
    """An HLO module with bounded dynamic parameters. Every value is computed at its bound."""

    def __init__(self, module: HloModule) -> None:
        flatten_entry(module)
        self._module = module
        self.name = module.name
        self.parameters = tuple(s.without_layout() for s in module.parameter_shapes)
        result = module.result_shape.without_layout()
        self.results = result.tuple_shapes if result.is_tuple else (result,)
        self.donated = donated_parameters(module)
        self.num_replicas, self.num_partitions = module.num_replicas, module.num_partitions
        for parameter, shape in zip(module.entry.parameters, self.parameters, strict=True):
            bounds = [
                n for n, is_dynamic in zip(shape.dimensions, shape.dynamic_dimensions, strict=False) if is_dynamic
            ]
            if max(bounds, default=0) > INT_MAX:
                raise InvalidArgumentError(
                    f"parameter {parameter.name} is {shape}: its bound has more elements than s32 can count",
                    op=parameter.name,
                    location=parameter.location,
                )

    def lower(self, shapes: Sequence[Shape], values: Mapping[int, np.ndarray] | None = None) -> HloModule:
        """Returns the module for arguments of these shapes: it pads each to its bound and sets its sizes."""
        self.check(shapes)
        module = self._module.clone()
        entry = module.entry
        module.input_output_aliases = [
            a for a in module.input_output_aliases if not self.parameters[a.parameter_number].is_dynamic
        ]
        module.buffer_donors = [(n, ()) for n in sorted({n for n in self.donated if self.parameters[n].is_dynamic})]
        for parameter, shape in zip(list(entry.parameters), shapes, strict=True):
            declared = parameter.shape
            if not declared.is_dynamic:
                continue
            users, is_root = list(parameter.users), parameter.is_root
            parameter.shape = declared.with_dimensions(shape.dimensions)
            value = _padded(entry, parameter, declared)
            for user in users:
                for position, operand in enumerate(user.operands):
                    if operand is parameter:
                        user.replace_operand(position, value)
            if is_root:
                entry.set_root(value)
        return module


def _padded(entry: HloComputation, parameter: HloInstruction, declared: Shape) -> HloInstruction:
    """Pads the parameter to the declared bounds and sets its actual sizes."""
    element = Shape(declared.element_type)
    zero = entry.add(Opcode.CONSTANT, shape=element, literal=Literal(np.zeros((), declared.dtype), element))
    sizes = parameter.shape.dimensions
    room = tuple(PaddingDimension(0, bound - n) for n, bound in zip(sizes, declared.dimensions, strict=True))
    value = entry.add(Opcode.PAD, parameter, zero, padding=room, metadata=parameter.metadata)
    for dimension, is_dynamic in enumerate(declared.dynamic_dimensions):
        if is_dynamic:
            size = entry.add(Opcode.CONSTANT, literal=Literal(np.asarray(sizes[dimension], np.int32)))
            value = entry.add(Opcode.SET_DIMENSION_SIZE, value, size, dimensions=(dimension,))
    return value
