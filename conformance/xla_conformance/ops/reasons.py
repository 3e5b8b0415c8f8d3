"""Why no case meets some ops, and some values of attributes."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from xla_conformance.ops.features import FEW_OPERANDS, Feature
from xla_core.hlo import OPS, ElementType, Opcode, Trait

_DEVICES, _HOST = "several devices: suite/test_collectives", "the host at the other end: suite/test_executables_feeds"

NO_CASE: dict[Opcode, str] = {
    **{o: _DEVICES for o, op in OPS.items() if Trait.COLLECTIVE in op.traits},
    **dict.fromkeys((Opcode.PARTITION_ID, Opcode.REPLICA_ID), _DEVICES),
    **{o: _HOST for o, op in OPS.items() if Trait.HOST_TRANSFER in op.traits},
    Opcode.CUSTOM_CALL: "its meaning is the program's own: suite/test_claims_custom_calls",
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

_T = ElementType
_SMALL_FLOATS = [t for t in _T if t.is_floating and t.bit_width <= 8]
_NOT_FLOATS = [t for t in _T if t.is_array and not t.is_floating]
_NO_TYPES: dict[str, tuple[Iterable[str], Iterable[ElementType]]] = {
    "it has no zero, and its sums are not exact": (
        (
            "convolution",
            "dot",
            "dynamic-reshape",
            "ragged-dot",
            "scaled-dot",
            "select-and-scatter",
            "set-dimension-size",
        ),
        (_T.F8E8M0FNU,),
    ),
    "results of so few bits have no tight bound": (
        (*(f"batch-norm-{name}" for name in ("grad", "inference", "training")), "cholesky", "triangular-solve"),
        _SMALL_FLOATS,
    ),
    "scales are for floats": (("scaled-dot",), _NOT_FLOATS),
    "it converts floats": (("stochastic-convert",), _NOT_FLOATS),
    "no unsigned type has as many bits": (
        ("stochastic-convert",),
        [t for t in _SMALL_FLOATS if t.bit_width < 8 or not t.has_zero],
    ),
    "so few numbers show no distribution": (
        ("rng",),
        [t for t in _T if t.is_array and (t.bit_width < 8 or t in _SMALL_FLOATS)],
    ),
    "it has one type": (("rng-get-and-update-state",), [t for t in _T if t.is_array and t is not _T.U64]),
}

_WITH_ROLES = ("dot", "convolution", "ragged-dot", "scaled-dot")
_PER_DIMENSION = ("dynamic-reshape", "dynamic-slice", "dynamic-update-slice")

NO_VALUE: dict[tuple[str, str, str], str] = {
    **{(op, "type", t.value): reason for reason, (ops, types) in _NO_TYPES.items() for op in ops for t in types},
    **{("rng", "type", t): "random numbers are real" for t in ("c64", "c128")},
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
    **{(op, "operands", f"more than {FEW_OPERANDS}"): "arrays have six dimensions at most" for op in _PER_DIMENSION},
    ("dynamic-reshape", "operands", "1"): "a scalar has no size to choose",
    ("bitcast", "result_layout", "given"): "the shape has the layout",
    ("async-start", "output_to_operand_aliasing", "given"): "compilers assign buffers",
    ("fusion", "output_to_operand_aliasing", "given"): "compilers assign buffers",
    ("copy-start", "operands", "*"): "it has one",
    **{("after-all", name, "*"): "tokens have no size" for name in ("size", "place")},
    **{("rng-get-and-update-state", name, "*"): "the state has one size" for name in ("size", "place")},
    **{("rng", name, "*"): "its cases have many numbers, whose distribution they check" for name in ("size", "place")},
    **{(op, "place", "*"): "attributes say which of its dimensions has which role" for op in _WITH_ROLES},
    **{(op, "place", "*"): "it takes square matrices" for op in ("cholesky", "triangular-solve")},
    ("dynamic-reshape", "place", "*"): "its sizes are operands",
    ("topk", "place", "* between"): "it takes vectors and matrices",
}
"""(opcode, attribute, value) -> the reason; "*" stands for any value, "* between" for any size at this place."""

LARGEST_SIZE: dict[Opcode, tuple[int, str]] = {
    **dict.fromkeys((Opcode.CHOLESKY, Opcode.TRIANGULAR_SOLVE), (257, "the work grows with the cube of the size")),
    **dict.fromkeys((Opcode.SCAN,), (513, "the reference evaluator runs one step after another")),
    **{o: (4097, "sums of more terms have no tight bound") for o in OPS if o.startswith("batch-norm")},
    Opcode.SELECT_AND_SCATTER: (4097, "the reference evaluator visits each window"),
    Opcode.SET_DIMENSION_SIZE: (4097, "its cases sum up all elements"),
}
"""The largest size of a dimension that cases of an op have, and why."""

_ALL = frozenset(t for t in _T if t.is_array)
_COMPLEX = frozenset(t for t in _T if t.is_complex)

NO_PAIR: dict[tuple[str, str], tuple[frozenset[ElementType], str]] = {
    ("compare", "type *"): (_ALL, "the operands' type decides which of them it may be"),
    ("compare", "direction *"): (_COMPLEX, "complex numbers have no order"),
    ("bitcast-convert", "rank *"): (_ALL, "the widths of the two types decide it"),
    ("bitcast-convert", "elements *"): (_ALL, "the widths of the two types decide it"),
    ("bitcast-convert", "size *"): (_ALL, "the widths of the two types decide it"),
    ("iota-long", "elements *"): (frozenset({_T.S8, _T.U8}), "they have fewer numbers"),
    ("iota-long", "size *"): (frozenset({_T.S8, _T.U8}), "they have fewer numbers"),
    ("fft-long", "fft_type *"): (_ALL, "real and complex signals have transforms of their own"),
    ("fft-long", "size *"): (_COMPLEX, "half of a size is only in the spectrum of a real signal"),
}
"""(domain, pattern of a feature) -> the types in which no case has the feature, and the reason."""


def is_no_pair(domain: str, feature: Feature, element_type: ElementType) -> bool:
    """Whether `NO_PAIR` has a reason why a domain doesn't show a feature in a type."""
    what = " ".join(feature)
    return any(
        domain == other and fnmatchcase(what, pattern) and element_type in types
        for (other, pattern), (types, _) in NO_PAIR.items()
    )
