"""cublas_lt_rewriter: replaces dots, and what is computed from them, with calls of cuBLASLt.

(XLA: xla/service/gpu/transforms/gemm_rewriter.h.)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from xla_backend_gpu.cublas.call import TARGET
from xla_backend_gpu.cublas.gelu import gelu_of, scalar_of
from xla_backend_gpu.cublas.matmul import (
    ComputeType,
    Epilogue,
    Matmul,
    MatmulConfig,
    bias_dimensions,
    is_vector,
    matmul_of,
)
from xla_core.hlo import ElementType, HloComputation, HloInstruction, Opcode, Shape
from xla_core.passes import Builder, InstructionPass

_COMPUTE: dict[ElementType, ComputeType] = {ElementType.F64: "f64", ElementType.S8: "s32"}
_F8 = (ElementType.F8E4M3FN, ElementType.F8E5M2)
_NARROWER = {
    ElementType.F32: (ElementType.BF16, ElementType.F16, *_F8),
    ElementType.S32: (ElementType.S8,),
}
"""The types of which a type has all values, and whose products the library adds in it."""
_KINDS = ("batch_dims", "contracting_dims")
_TF32 = (8, 10)  # bits of exponent and mantissa


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate:
    """A dot and the instructions after it that one call can compute.

    Attributes:
        dot: the dot, or what transposes its result.
        last: the last of the instructions. It has the elements of the dot's result in the same order, but may have
            other dimensions.
        lhs, rhs: the operands of the product.
        matmul: the product.
        added: what is added to the product, which has the last instruction's shape.
        bias: the bias, which has an element for each row.
    """

    dot: HloInstruction
    last: HloInstruction
    lhs: HloInstruction
    rhs: HloInstruction
    matmul: Matmul
    added: HloInstruction | None = None
    bias: HloInstruction | None = None

    @property
    def config(self) -> MatmulConfig:
        return self.matmul.config

    def add_call(self, b: Builder, workspace_bytes: int) -> HloInstruction:
        """Adds the call, and returns it."""
        config = self.config.model_copy(update={"workspace_bytes": workspace_bytes})
        operands, shape = [self.lhs, self.rhs], self.dot.shape
        if self.added is not None:
            operands.append(_as(b, self.added, shape))
        if self.bias is not None:
            rows = bias_dimensions(self.matmul, self.lhs.shape.rank, shape.rank)
            wanted = shape.without_layout().with_dimensions([shape.dimensions[d] for d in rows])
            operands.append(_as(b, self.bias, wanted.with_default_layout()))
        return b.add(
            Opcode.CUSTOM_CALL,
            *operands,
            shape=shape,
            name=f"{self.dot.name}_cublas",
            custom_call_target=TARGET,
            backend_config=config.model_dump_json(exclude_defaults=True),
        )


Accepts = Callable[[Matmul], int | None]
"""Returns the bytes of scratch memory that the library needs for a product, or None if it doesn't compute it."""

Chooses = Callable[[Candidate, HloInstruction], bool]
"""(candidate, its call) -> whether the call is better than the backend's own kernels."""


class CublasLtRewriter(InstructionPass):
    """Replaces dots with calls, together with as much of what follows as one call computes.

    That is a factor, an array that is added, a bias, and ReLU or GELU. A step of a narrow type is not rounded then: the
    call rounds its result once.

    Args:
        accepts, chooses: see `Accepts` and `Chooses`.
    """

    opcodes: ClassVar[frozenset[Opcode]] = frozenset({Opcode.DOT})

    def __init__(self, accepts: Accepts, chooses: Chooses) -> None:
        self._accepts = accepts
        self._chooses = chooses

    def rewrite(self, computation: HloComputation, instruction: HloInstruction) -> bool:
        for candidate in reversed(list(candidates(instruction))):
            workspace = self._accepts(candidate.matmul)
            if workspace is None:
                continue
            builder = Builder(computation, candidate.last.metadata)
            call = candidate.add_call(builder, workspace)
            if not self._chooses(candidate, call):
                builder.undo()
                return False
            computation.replace_with(candidate.last, _as(builder, call, candidate.last.shape))
            return True
        return False


def candidates(dot: HloInstruction) -> Iterator[Candidate]:
    """Yields a dot alone, then with one more instruction at a time that the call can compute."""
    if dot.shape.is_dynamic or dot.control_predecessors or dot.control_successors or dot.attribute("algorithm"):
        return
    found: Candidate | None = next(map(_without_transposes, _products(dot)), None)
    while found is not None:
        yield found
        found = _longer(found)


def _products(dot: HloInstruction) -> Iterator[Candidate]:
    """Yields the products that a dot may be: of what its operands are rounded or widened from, and of themselves."""
    yield from _sources(dot, "tf32", [o.operand(0) for o in dot.operands if _is_rounded_to_tf32(o)])
    narrow = [source for source in map(_widened_from, dot.operands) if source is not None]
    for operands in (narrow, list(dot.operands)):
        if len(operands) == 2:
            yield from _sources(dot, _COMPUTE.get(operands[0].shape.element_type, "f32"), operands)


def _sources(dot: HloInstruction, compute: ComputeType, operands: Sequence[HloInstruction]) -> Iterator[Candidate]:
    """Yields the product of both operands, if there are two; before it, the one that gives its result transposed."""
    if len(operands) != 2:
        return
    dimensions = {f"{side}_{kind}": dot.attribute(f"{side}_{kind}") for side in ("lhs", "rhs") for kind in _KINDS}
    user = _only_user(dot)
    if user is not None and user.opcode == Opcode.TRANSPOSE and not dot.is_root:
        batches = len(dot.attribute("lhs_batch_dims"))
        first_right = dot.operand(0).shape.rank - len(dot.attribute("lhs_contracting_dims"))
        swapped = (*range(batches), *range(first_right, dot.shape.rank), *range(batches, first_right))
        if user.attribute("dimensions") == swapped:
            changed = {
                f"{a}_{kind}": dimensions[f"{b}_{kind}"] for a, b in (("lhs", "rhs"), ("rhs", "lhs")) for kind in _KINDS
            }
            yield from _product(user, compute, operands[1], operands[0], changed)
    yield from _product(dot, compute, operands[0], operands[1], dimensions)


def _product(
    first: HloInstruction, compute: ComputeType, lhs: HloInstruction, rhs: HloInstruction, dimensions: dict[str, Any]
) -> Iterator[Candidate]:
    matmul = matmul_of(MatmulConfig(compute_type=compute, **dimensions), lhs.shape, rhs.shape, first.shape)
    if matmul is not None:
        yield Candidate(first, first, lhs, rhs, matmul)


def _is_rounded_to_tf32(operand: HloInstruction) -> bool:
    if operand.opcode != Opcode.REDUCE_PRECISION or operand.shape.element_type is not ElementType.F32:
        return False
    return (operand.attribute("exponent_bits"), operand.attribute("mantissa_bits")) == _TF32


def _widened_from(operand: HloInstruction) -> HloInstruction | None:
    """Returns the value of a narrower type that an operand is converted from."""
    if operand.opcode != Opcode.CONVERT:
        return None
    source = operand.operand(0)
    return source if source.shape.element_type in _NARROWER.get(operand.shape.element_type, ()) else None


def _without_transposes(candidate: Candidate) -> Candidate:
    """Returns the product of what the operands are transposed from, if the library reads that in its own order."""
    operands, changed = [], dict[str, tuple[int, ...]]()
    for side, operand in (("lhs", candidate.lhs), ("rhs", candidate.rhs)):
        order = range(operand.shape.rank)
        if operand.opcode == Opcode.TRANSPOSE:
            operand, order = operand.operand(0), operand.attribute("dimensions")
        roles = {kind: getattr(candidate.config, f"{side}_{kind}_dims") for kind in ("batch", "contracting")}
        free = [order[d] for d in range(len(order)) if not any(d in role for role in roles.values())]
        if free != sorted(free):  # the result has the free dimensions in the operand's order
            return candidate
        changed |= {f"{side}_{kind}_dims": tuple(order[d] for d in role) for kind, role in roles.items()}
        operands.append(operand)
    lhs, rhs = operands
    matmul = matmul_of(candidate.config.model_copy(update=changed), lhs.shape, rhs.shape, candidate.dot.shape)
    return candidate if matmul is None else dataclasses.replace(candidate, lhs=lhs, rhs=rhs, matmul=matmul)


def _as(b: Builder, value: HloInstruction, shape: Shape) -> HloInstruction:
    """Returns the same elements with other dimensions."""
    return value if value.shape == shape else b.add(Opcode.BITCAST, value, shape=shape)


def _longer(candidate: Candidate) -> Candidate | None:
    """Returns a candidate with one more step, or None."""
    last, config = candidate.last, candidate.config
    if last.is_root or config.epilogue not in ("DEFAULT", "BIAS"):
        return None
    user = _only_user(last)
    if user is not None and user.opcode in (Opcode.RESHAPE, Opcode.BITCAST):
        same = user.shape.element_type is last.shape.element_type and is_vector(user.shape) and is_vector(last.shape)
        return dataclasses.replace(candidate, last=user) if same else None
    if not last.shape.element_type.is_floating:
        return _with_sum(candidate)
    gelu = gelu_of(last)
    if gelu is not None:
        return _changed(candidate, gelu, epilogue="GELU_BIAS" if config.has_bias else "GELU")
    if user is None:
        return None
    if user.opcode == Opcode.MULTIPLY and not config.beta and not config.has_bias:
        value = scalar_of(_other(user, last))
        alpha = None if value is None else _factor(config.alpha, value, candidate.matmul.scale_type)
        return None if alpha is None else _changed(candidate, user, alpha=alpha)
    if user.opcode == Opcode.MAXIMUM and scalar_of(_other(user, last)) == 0.0:
        return _changed(candidate, user, epilogue="RELU_BIAS" if config.has_bias else "RELU")
    return _with_bias(candidate) or _with_sum(candidate)


def _factor(first: float, second: float, kind: ElementType) -> float | None:
    """Returns the product of two factors, or None if it isn't a normal number of the type in which it is passed.

    cuBLASLt doesn't read the operands for a factor of 0, so that a NaN among them would be lost.
    """
    limits = np.finfo(kind.dtype)
    with np.errstate(all="ignore"):
        factors = [float(kind.dtype.type(factor)) for factor in (second, first * second)]
    return factors[1] if all(limits.tiny <= abs(factor) <= limits.max for factor in factors) else None


def _with_bias(candidate: Candidate) -> Candidate | None:
    user, config = _only_user(candidate.last), candidate.config
    if user is None or user.opcode != Opcode.ADD or config.has_bias:
        return None
    broadcast = _other(user, candidate.last)
    if broadcast.opcode != Opcode.BROADCAST or not is_vector(broadcast.operand(0).shape):
        return None
    rows = _rows(candidate)
    if not rows or broadcast.attribute("dimensions") != rows:
        return None
    return _changed(candidate, user, bias=broadcast.operand(0), epilogue="BIAS")


def _rows(candidate: Candidate) -> tuple[int, ...]:
    """Returns the dimensions of the last instruction that are the rows of the product; () if there are none."""
    matmul, shape = candidate.matmul, candidate.last.shape
    if shape == candidate.dot.shape:
        return bias_dimensions(matmul, candidate.lhs.shape.rank, shape.rank)
    first, size = shape.rank, 1
    while first and size < matmul.d.rows:
        first -= 1
        size *= shape.dimensions[first]
    return tuple(range(first, shape.rank)) if matmul.swapped and size == matmul.d.rows else ()


def _with_sum(candidate: Candidate) -> Candidate | None:
    user, config = _only_user(candidate.last), candidate.config
    if user is None or user.opcode != Opcode.ADD or config.beta:
        return None
    added = _other(user, candidate.last)
    if added.shape != candidate.last.shape or _is_computed_anywhere(added):
        return None
    return _changed(candidate, user, added=added, beta=1.0)


def _is_computed_anywhere(instruction: HloInstruction) -> bool:
    """Whether a kernel computes an array from less memory than the array takes."""
    return instruction.opcode in (Opcode.BROADCAST, Opcode.CONSTANT, Opcode.IOTA)


def _changed(
    candidate: Candidate,
    last: HloInstruction,
    *,
    added: HloInstruction | None = None,
    bias: HloInstruction | None = None,
    **config: Epilogue | float,
) -> Candidate | None:
    """Returns a candidate that ends with another instruction, if the library has such a product."""
    if last.shape != candidate.last.shape or last.control_predecessors:
        return None
    made = candidate.config.model_copy(update=config)
    matmul = matmul_of(made, candidate.lhs.shape, candidate.rhs.shape, candidate.dot.shape)
    if matmul is None:
        return None
    added, bias = added or candidate.added, bias or candidate.bias
    return dataclasses.replace(candidate, last=last, matmul=matmul, added=added, bias=bias)


def _only_user(instruction: HloInstruction) -> HloInstruction | None:
    if len(instruction.users) != 1:
        return None
    (user,) = instruction.users
    return user if list(user.operands).count(instruction) == 1 else None


def _other(user: HloInstruction, operand: HloInstruction) -> HloInstruction:
    """Returns the other operand of a binary op."""
    return user.operand(1) if user.operand(0) is operand else user.operand(0)
