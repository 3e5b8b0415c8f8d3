"""Mutants that are wrong for one element type together with one value of an attribute, one size or one rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from tests.conformance.zoo.kernels import Arrays, kernel_mutant
from tests.conformance.zoo.mutant import Mutant
from xla_core.hlo import ElementType, HloInstruction

Where = Callable[[HloInstruction], bool]
_T = ElementType


def wrong_in(
    element: ElementType, where: Where, start: int, instruction: HloInstruction, operands: Arrays, right: Arrays
) -> Arrays | None:
    """A bit of the elements from `start` on is wrong; from the last one on if it is -1."""
    if not _applies(element, where, start, instruction):
        return None
    for result in right:
        flat = result.reshape(-1)
        bits = flat[start:] if len(flat) else flat
        if bits.dtype == bool:
            bits[...] = ~bits
        elif bits.size:
            view = bits.view(np.uint8).reshape(bits.size, -1)
            view[:, -1 if bits.dtype.kind == "c" else 0] ^= 64
    return right


def _applies(element: ElementType, where: Where, start: int, instruction: HloInstruction) -> bool:
    shapes = [instruction.shape, *(o.shape for o in instruction.operands[:1])]
    has = any(leaf.element_type is element for s in shapes for leaf in s.leaves())
    sizes = [leaf.num_elements for leaf in instruction.shape.array_leaves()]
    return has and max(sizes, default=0) > max(start, 0) and where(instruction)


def _windows(**least: int) -> Where:
    """Some window dimension has a field of at least a value."""
    return lambda i: any(getattr(w, f) >= n for w in i.attributes["window"] for f, n in least.items())


def _count(name: str, least: int) -> Where:
    return lambda i: len(i.attributes.get(name) or ()) >= least


def _value(name: str, *values: object) -> Where:
    return lambda i: i.attributes.get(name, i.op.attributes[name].default) in values


def _any(i: HloInstruction) -> bool:
    return True


def _rank(*ranks: int) -> Where:
    return lambda i: any(s.is_array and s.rank in ranks for s in i.shape.leaves())


def _reduces_by(name: str) -> Where:
    return lambda i: i.attributes["to_apply"].root.opcode == name


def _compares(direction: str) -> Where:
    return lambda i: i.attributes["to_apply"].root.attributes.get("direction") == direction


def _sizes(least: int) -> Where:
    return lambda i: any(n >= least for s in i.operand(0).shape.leaves() for n in s.dimensions)


def _descends(name: str) -> Where:
    return lambda i: list(i.attributes[name]) != sorted(i.attributes[name])


def _operands(least: int) -> Where:
    return lambda i: len(i.operands) >= least


_FAULTS: list[tuple[str, ElementType, str, Where, int]] = [
    ("reduce-window", _T.S16, "a window dilation above 1", _windows(window_dilation=2), -1),
    ("reduce-window", _T.S32, "a window dilation above 1", _windows(window_dilation=2), -1),
    ("reduce-window", _T.F16, "a base dilation above 1", _windows(base_dilation=2), -1),
    ("fft", _T.C64, "an odd length", lambda i: i.attributes["fft_length"][-1] % 2 == 1, -1),
    (
        "fft",
        _T.C64,
        "two lengths of the inverse",
        lambda i: i.attributes["fft_type"] == "IFFT" and len(i.attributes["fft_length"]) == 2,
        -1,
    ),
    ("concatenate", _T.U8, "5 operands", _operands(5), -1),
    ("concatenate", _T.S8, "5 operands", _operands(5), -1),
    ("transpose", _T.F64, "element 4096 and beyond", _any, 4096),
    ("reverse", _T.F64, "element 65536 and beyond", _any, 65536),
    ("pad", _T.BF16, "negative low padding", lambda i: any(p.low < 0 for p in i.attributes["padding"]), -1),
    ("pad", _T.S64, "interior padding above 1", lambda i: any(p.interior > 1 for p in i.attributes["padding"]), -1),
    ("slice", _T.U16, "a stride above 2", lambda i: any(s.stride > 2 for s in i.attributes["slice"]), -1),
    ("gather", _T.F16, "batching dimensions", _count("operand_batching_dims", 1), -1),
    ("gather", _T.U8, "two index dimensions", _count("start_index_map", 2), -1),
    ("scatter", _T.U32, "two window dimensions", _count("update_window_dims", 2), -1),
    ("scatter", _T.PRED, "sorted indices", _value("indices_are_sorted", True), -1),
    ("dot", _T.BF16, "two contracting dimensions", _count("lhs_contracting_dims", 2), -1),
    ("dot", _T.S8, "256 terms", lambda i: _sizes(256)(i) and len(i.attributes["lhs_contracting_dims"]) == 1, -1),
    ("dot", _T.F64, "two batch dimensions", _count("lhs_batch_dims", 2), -1),
    ("convolution", _T.F16, "feature groups", lambda i: i.attributes.get("feature_group_count", 1) > 1, -1),
    ("convolution", _T.F64, "batch groups", lambda i: i.attributes.get("batch_group_count", 1) > 1, -1),
    ("convolution", _T.S8, "a base dilation above 1", _windows(base_dilation=2), -1),
    ("convolution", _T.C64, "reversal", lambda i: any(w.window_reversal for w in i.attributes["window"]), -1),
    ("sort", _T.U8, "three operands", _operands(3), -1),
    ("sort", _T.F64, "1,024 elements in a dimension", _sizes(1024), -1),
    (
        "sort",
        _T.S16,
        "the first of several dimensions",
        lambda i: i.attributes["dimensions"] == (0,) and _rank(2, 3, 4)(i),
        -1,
    ),
    ("topk", _T.BF16, "the smallest", _value("largest", False), -1),
    ("topk", _T.S64, "one result", _value("k", 1), -1),
    ("iota", _T.U8, "another dimension than the last", lambda i: i.attributes["iota_dimension"] < i.shape.rank - 1, -1),
    ("reverse", _T.PRED, "two dimensions", _count("dimensions", 2), -1),
    ("reduce", _T.F16, "two dimensions", _count("dimensions", 2), -1),
    ("reduce", _T.U16, "products", _reduces_by("multiply"), -1),
    (
        "select-and-scatter",
        _T.U32,
        "the smallest",
        lambda i: i.attributes["select"].root.attributes["direction"] == "LE",
        -1,
    ),
    ("broadcast", _T.U64, "dimensions that don't ascend", _descends("dimensions"), -1),
    ("dynamic-update-slice", _T.PRED, "rank 4", _rank(4), -1),
    ("dynamic-slice", _T.C128, "rank 5", _rank(5), -1),
    ("negate", _T.S8, "scalars", _rank(0), -1),
    ("exponential", _T.F16, "scalars", _rank(0), -1),
    ("scan", _T.S16, "the reverse order", _value("is_reverse", True), -1),
    ("add", _T.U16, "element 4096 and beyond", _any, 4096),
]


def _mutants() -> Iterator[Mutant]:
    for opcode, element, what, where, start in _FAULTS:
        name = f"pairs/{opcode}/{element.value}/{what.replace(' ', '-').replace(',', '')}"
        fault = f"`{opcode}` is wrong in {element.value} with {what}."
        wrong, applies = partial(wrong_in, element, where, start), partial(_applies, element, where, start)
        yield kernel_mutant(name, opcode, fault, opcode, wrong, applies=applies)


MUTANTS = list(_mutants())
