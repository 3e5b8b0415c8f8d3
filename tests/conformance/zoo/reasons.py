"""Faults that don't exist, so that no mutant has them, and why. What the tables of ops say is derived from them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fnmatch import fnmatchcase

import numpy as np
from xla_conformance.ops.domains import DOMAINS
from xla_conformance.ops.elementwise_forms import simple_forms
from xla_conformance.ops.reasons import NO_VALUE
from xla_conformance.ops.values import product

from tests.conformance.zoo.kernels import Fault
from xla_core.hlo import OPS, ElementType, HloInstruction, Opcode, Trait, evaluate_computation

_NOT_A_KERNEL = {Trait.COLLECTIVE, Trait.CONTROL_FLOW, Trait.NOP, Trait.ASYNC, Trait.HOST_TRANSFER, Trait.PER_DEVICE}

NO_KERNEL = {
    "fusion": "it has the kernels of its ops",
    "custom-call": "its meaning is the program's own",
    "parameter": "no kernel computes it",
    "constant": "no kernel computes it",
    "domain": "a pass removes it",
    "map": "a pass inlines it",
    "reshape": "a pass makes it a bitcast",
    "bitcast": "it is the same memory",
    "copy": "the stream copies",
    "copy-start": "the stream copies",
    "set-dimension-size": "the dynamic padder removes it",
    "dynamic-reshape": "the dynamic padder removes it",
    "rng": "any random number is right",
    "rng-get-and-update-state": "its cases compare the states with each other",
}
"""Ops that the template runs without a kernel of their own, and those whose results are free."""

NO_FAULT = {
    "attributes/fft/fft_length/[!f]*": "its sizes are the operand's",
    "attributes/fft/fft_length/first-two-swapped": "its sizes are the operand's",
    "attributes/fft/fft_type/taken-as-RFFT": "an RFFT has real operands",
    "attributes/gather/collapsed_slice_dims/*": "whichever dimensions of one element are left out, the elements are the same",
    "attributes/gather/*_dims/exchanged-with-*": "the shapes of the indices and of the result decide it",
    "attributes/scatter/*_dims/exchanged-with-*": "the shapes of the indices and of the updates decide it",
    "attributes/ragged-dot/lhs_*/exchanged-with-rhs_group_dims": "the sizes of the groups decide it",
    "attributes/scaled-dot/lhs_contracting_dims/exchanged-with-rhs_batch_dims": "the shapes of the scales decide it",
    "attributes/convolution/feature_group_count/*": "the features of input and kernel decide it",
    "attributes/select-and-scatter/window/s*": "the shape of the source decides it",
    "attributes/select-and-scatter/window/base*": "the shape of the source decides it",
    "attributes/select-and-scatter/window/high*": "the shape of the source decides it",
    "attributes/select-and-scatter/window/first*": "the shape of the source decides it",
    "attributes/convolution/window/size-one-too-small": "the kernel's shape decides it",
    "attributes/scan/num_carries/*": "the computation's parameters decide it",
    "attributes/transpose/dimensions/*next-taken": "it names each dimension once",
    "attributes/select-and-scatter/scatter/*": "a sum has no order",
    "attributes/*/window/*reversal*": "windows of reductions have no order",
    "attributes/*/window/window-always-reversed": "windows of reductions have no order",
    "sizes/*batch-norm*/scalar": "it has a feature dimension",
    "sizes/cholesky/scalar": "it is for matrices",
    "sizes/cholesky/rank-1": "it is for matrices",
    "sizes/triangular-solve/scalar": "it is for matrices",
    "sizes/triangular-solve/rank-1": "it is for matrices",
    "sizes/batch-norm*/counter-16": "its sums of many terms have no tight bound, so its cases are small",
    "sizes/select-and-scatter/counter-16": "the reference evaluator visits each window, so its cases are small",
    "sizes/iota/scalar": "it has a dimension to count along",
    "sizes/iota/single": "a pass makes it a constant",
    "sizes/ragged-dot/rank-1": "both operands have a free dimension",
    "sizes/fft/scalar": "it has lengths",
    "sizes/get-dimension-size/[!s]*": "its result is a scalar",
    "sizes/get-dimension-size/single": "its result is a scalar",
    "sizes/transpose/scalar": "a pass makes a bitcast of it",
    "sizes/transpose/single": "a pass makes a bitcast of it",
    "sizes/transpose/rank-1": "a pass makes a bitcast of it",
    "sizes/sort/scalar": "it sorts along a dimension",
    "sizes/topk/scalar": "its results have a dimension of k elements",
    "sizes/ragged-dot/scalar": "both operands have a free dimension",
    "sizes/concatenate/scalar": "it joins arrays along a dimension",
    "sizes/concatenate/single": "all operands but one are empty, and passes leave them out",
    "sizes/convolution/scalar": "it has batch and feature dimensions",
    "sizes/convolution/rank-1": "it has batch and feature dimensions",
    "values/batch-norm*/all-denormal-*": "its results are compared by the size of the largest one",
    "values/*dot/all-denormal-*": "products of matrices may take denormal numbers as 0",
    "values/convolution/all-denormal-*": "products of matrices may take denormal numbers as 0",
    "values/cholesky/all-*": "its operands are finite, and results are compared by the size of the largest one",
    "values/triangular-solve/all-*": "its operands are finite, and results are compared by the size of the largest one",
    "values/fft/all-*": "its operands are finite, and results are compared by the size of the largest one",
    "values/*dot/all-minus-zero": "sums may give zeros of any sign",
    "values/convolution/all-minus-zero": "sums may give zeros of any sign",
    "values/convolution/all-infinity": "transforms of convolutions spread infinities",
    "values/convolution/all-nan": "transforms of convolutions spread NaNs",
    "values/*batch-norm*/all-minus-zero": "sums may give zeros of any sign",
    "values/reduce*/all-minus-zero": "sums, minima and maxima may give zeros of any sign",
    "values/scan/all-minus-zero": "sums may give zeros of any sign",
    "values/scatter/all-minus-zero": "sums, minima and maxima may give zeros of any sign",
    "values/select-and-scatter/all-minus-zero": "sums, minima and maxima may give zeros of any sign",
    "values/ragged-dot/all-infinity": "zeros that mask the other groups may spread infinities",
    "values/ragged-dot/all-nan": "zeros that mask the other groups may spread NaNs",
    "values/iota/nan-payload": "it gives no NaN",
}  # fmt: skip
"""The pattern of a mutant's name -> the reason."""


UNBREAKABLE = {
    "compiler.flat-entry": "the core flattens the entry before the backend gets it",
    "executable.kept-argument-copied": "the core's runtime makes the copy",
}
"""The id of a promise -> why no backend can break it alone. A mutant breaks each other promise."""


def reason(name: str) -> str:
    """Returns why a mutant of this name has no fault; "" if it may have one."""
    return next((why for pattern, why in NO_FAULT.items() if fnmatchcase(name, pattern)), "")


def kernel_ops() -> list[str]:
    """The ops that the template runs as kernels."""
    return [str(n) for n, op in OPS.items() if not op.traits & _NOT_A_KERNEL and str(n) not in NO_KERNEL]


# -- what the tables say -----------------------------------------------------------------------------------------------


def has_many(opcode: str, attribute: str) -> bool:
    """Whether an attribute may name several dimensions."""
    return (opcode, attribute, "several") not in NO_VALUE


def is_ordered(opcode: str, attribute: str) -> bool:
    """Whether the order of an attribute's values is the program's choice."""
    return has_many(opcode, attribute) and (opcode, attribute, "not ascending") not in NO_VALUE


@functools.cache
def example(opcode: str, element: ElementType) -> HloInstruction | None:
    """Returns an instruction of an op for operands of an element type, if a domain of the op has one."""
    for domain in DOMAINS.get(Opcode(opcode), ()):
        if domain.accepts(element):
            choice = next(c for c in domain.choices(0, True) if c.type is element)
            entry = domain.program(choice, element).module.entry
            return next((i for i in entry.instructions if i.opcode == opcode), None)
    return None


def accepts(opcode: str, element: ElementType) -> bool:
    """Whether cases of an op have an element type."""
    return any(domain.accepts(element) for domain in DOMAINS.get(Opcode(opcode), ()))


def shows(opcode: str, kind: Callable[[np.ndarray], bool], wrong: Fault) -> bool:
    """Whether a fault changes a result of a kind; for ops that aren't elementwise, whether they have such results."""
    op = OPS[Opcode(opcode)]
    if not (op.is_elementwise and isinstance(op.arity, int)):
        return any(kind(np.zeros(1, leaf.dtype)) for leaf in _float_results(opcode))
    for element in (ElementType.BF16, ElementType.F32, ElementType.S32, ElementType.C64):
        for form in simple_forms(op, element):
            if form.scalars or (form.results and Trait.BITWISE in op.traits):
                continue
            arguments = product(form.operands, 0)
            root = form.module(arguments[0].shape).entry.root
            with np.errstate(all="ignore"):
                (right,) = evaluate_computation(root.parent, arguments)
                results = wrong(root, arguments, [right.copy()]) if kind(right) else None
            if results is not None and results[0].astype(right.dtype).tobytes() != right.tobytes():
                return True
    return False


def _float_results(opcode: str) -> list[ElementType]:
    found = [example(opcode, element) for element in (ElementType.F32, ElementType.S32)]
    return [leaf.element_type for i in found if i is not None for leaf in i.shape.array_leaves()]
