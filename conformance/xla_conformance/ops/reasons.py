"""Why no case meets some ops, and some values of attributes."""

from __future__ import annotations

from xla_core.hlo import OPS, Opcode, Trait

__all__ = ["LARGEST_SIZE", "NO_CASE", "NO_VALUE"]

_DEVICES, _HOST = "several devices: suite/test_collectives", "the host at the other end: suite/test_executables"

NO_CASE: dict[Opcode, str] = {
    **{o: _DEVICES for o, op in OPS.items() if Trait.COLLECTIVE in op.traits},
    **dict.fromkeys((Opcode.PARTITION_ID, Opcode.REPLICA_ID), _DEVICES),
    **{o: _HOST for o, op in OPS.items() if Trait.HOST_TRANSFER in op.traits},
    Opcode.CUSTOM_CALL: "its meaning is the program's own: suite/test_executables",
    Opcode.PARAMETER: "every case has it",
}
"""Ops that other tests of the suite are for."""

_ONE = "it names one dimension"
_SORTED = "it must be sorted"
_SEVERAL = ("none", "several", "ascending", "not ascending")
_ONE_DIMENSION = (
    *(("concatenate", "dimensions"), ("get-dimension-size", "dimensions"), ("set-dimension-size", "dimensions")),
    *(("scan", "dimensions"), ("sort", "dimensions"), ("ragged-dot", "lhs_ragged_dims")),
)
_IN_ORDER = (
    *(("gather", "collapsed_slice_dims"), ("gather", "offset_dims"), ("gather", "operand_batching_dims")),
    *(("scatter", "inserted_window_dims"), ("scatter", "update_window_dims"), ("scatter", "input_batching_dims")),
)

NO_VALUE: dict[tuple[str, str, str], str] = {
    **{(*name, value): _ONE for name in _ONE_DIMENSION for value in _SEVERAL},
    **{(*name, "not ascending"): _SORTED for name in _IN_ORDER},
    **{("ragged-dot", "rhs_group_dims", value): "it names one dimension or none" for value in _SEVERAL[1:]},
    ("map", "dimensions", "not ascending"): "it names all dimensions in order",
    ("convolution", "batch_group_count", "0"): "it is positive",
    ("convolution", "feature_group_count", "0"): "it is positive",
    ("reduce-precision", "exponent_bits", "0"): "it is positive",
    ("fft", "fft_length", "none"): "it has one to three sizes",
    ("reduce-window", "window", "reversal True"): "a reduction has no order",
    ("select-and-scatter", "window", "reversal True"): "the elements of a window have no order",
    ("dynamic-reshape", "operands", "1"): "a scalar has no size to choose",
    ("bitcast", "result_layout", "given"): "the shape has the layout",
    ("async-start", "output_to_operand_aliasing", "given"): "compilers assign buffers",
    ("fusion", "output_to_operand_aliasing", "given"): "compilers assign buffers",
    ("copy-start", "operands", "*"): "it has one",
    ("rng-get-and-update-state", "size", "*"): "the state has one size",
    ("rng", "size", "*"): "its cases have many numbers, whose distribution they check",
}
"""(opcode, attribute, value) -> the reason; "*" stands for any."""

LARGEST_SIZE: dict[Opcode, tuple[int, str]] = {
    **dict.fromkeys((Opcode.CHOLESKY, Opcode.TRIANGULAR_SOLVE), (257, "the work grows with the cube of the size")),
    **dict.fromkeys((Opcode.SCAN,), (513, "the reference evaluator runs one step after another")),
}
"""The largest size of a dimension that cases of an op have, and why."""
