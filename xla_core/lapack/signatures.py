"""The operands, element types and flags of each LAPACK custom call. (jaxlib: jaxlib/cpu/lapack_kernels.h.)"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from xla_core.errors import InvalidArgumentError
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.values.element_type import ElementType

_ELEMENT_TYPES = {"s": ElementType.F32, "d": ElementType.F64, "c": ElementType.C64, "z": ElementType.C128}
_FLAGS = {
    "uplo": "LU", "side": "LR", "trans_x": "NTC", "diag": "NU", "compute_left": "NV", "compute_right": "NV",
}  # fmt: skip
"""Attribute -> the characters that it may be, unless a routine's signature says otherwise."""


@dataclasses.dataclass(frozen=True)
class Signature:
    """The operands and attributes of a routine.

    Attributes:
        operands: the dimensions of each operand after the batch dimensions; each letter is one size ("kk mn").
        letters: the types that have targets: s f32, d f64, c c64, z c128.
        flags: attributes that are characters (as integers), and the allowed characters.
        others: attributes that are integers or booleans.
        has_free_signs: whether results are eigenvectors or singular vectors, whose signs LAPACK does not specify.
    """

    operands: str
    letters: str
    flags: Mapping[str, str] = dataclasses.field(default_factory=dict)
    others: tuple[str, ...] = ()
    has_free_signs: bool = False

    def check(self, call: HloInstruction, attributes: Mapping[str, Any]) -> tuple[tuple[int, ...], dict[str, int]]:
        """Checks a call; returns the batch dimensions, and the sizes of the operands' dimensions by letter.

        Raises:
            InvalidArgumentError: for values that the routine would refuse, and operands that it would read out of
                bounds.
        """
        batch, sizes = self._sizes(call)
        for name, allowed in self.flags.items():
            given = self._attribute(call, attributes, name)
            if given not in map(ord, allowed):
                shown = ", ".join(f"{ord(x)} ({x!r})" for x in allowed)
                raise _wrong(call, f"has {name} = {given}, which must be one of {shown}")
        for name in self.others:
            self._attribute(call, attributes, name)
        self._check_sizes(call, attributes, sizes)
        return batch, sizes

    @staticmethod
    def _attribute(call: HloInstruction, attributes: Mapping[str, Any], name: str) -> int:
        if name not in attributes:
            raise _wrong(call, f"has no attribute {name}")
        value = attributes[name]
        if not isinstance(value, int):
            raise _wrong(call, f"has {name} = {value!r}, which is no integer of its type")
        return value

    def _sizes(self, call: HloInstruction) -> tuple[tuple[int, ...], dict[str, int]]:
        target: str = call.attribute("custom_call_target")
        operands = [s for o in call.operands for s in o.shape.array_leaves()]
        patterns, element_type = self.operands.split(), _ELEMENT_TYPES[TARGETS[target][1]]
        shapes = ", ".join(str(s.without_layout()) for s in operands)
        wrong = _wrong(call, f"takes {element_type} operands ({self.operands}), not {shapes}")
        if len(operands) != len(patterns) or operands[0].rank < len(patterns[0]):
            raise wrong
        batch = operands[0].dimensions[: operands[0].rank - len(patterns[0])]
        sizes: dict[str, int] = {}
        for position, (operand, letters) in enumerate(zip(operands, patterns, strict=True)):
            wanted = ElementType.S32 if "geqp3" in target and position == 1 else element_type
            matrix = operand.dimensions[len(batch) :]
            if operand.dimensions[: len(batch)] != batch or len(matrix) != len(letters):
                raise wrong
            if operand.element_type is not wanted:
                raise wrong
            if any(sizes.setdefault(x, n) != n for x, n in zip(letters, matrix, strict=True)):
                raise wrong
        return batch, sizes

    @staticmethod
    def _check_sizes(call: HloInstruction, attributes: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        target: str = call.attribute("custom_call_target")
        m, n, k = (sizes.get(letter, 0) for letter in "mnk")
        if "mqr" in target and (sizes["r"] != (m if attributes["left"] else n) or k > sizes["r"]):
            raise _wrong(call, f"multiplies {m}x{n} matrices by reflectors of length {sizes['r']}")
        if "gqr" in target and not k <= n <= m:
            raise _wrong(call, f"makes {n} columns of {k} reflectors of length {m}")
        if "trsm" in target and k != (m if attributes["side"] == ord("L") else n):
            raise _wrong(call, f"solves {m}x{n} systems with a {k}x{k} matrix")
        if "gehrd" in target:
            low, high = attributes["low"], attributes["high"]
            if not (1 <= low <= high <= n or (n == 0 and (low, high) == (1, 0))):
                raise _wrong(call, f"has low = {low} and high = {high} of {n} rows")


def _wrong(call: HloInstruction, what: str) -> InvalidArgumentError:
    target = call.attribute("custom_call_target")
    return InvalidArgumentError(f"{target} {what}", op=call.opcode, location=call.location)


def _flags(*names: str, **own: str) -> Mapping[str, str]:
    return {**{name: _FLAGS[name] for name in names}, **own}


_UPLO, _SPECTRUM, _SVD = _flags("uplo"), _flags("uplo", mode="NV"), _flags(mode="ASN")

SIGNATURES: Mapping[str, Signature] = {
    "potrf": Signature("nn", "sdcz", _UPLO),
    "getrf": Signature("mn", "sdcz"),
    "geqrf": Signature("mn", "sdcz"),
    "geqp3": Signature("mn n", "sdcz"),
    "orgqr": Signature("mn k", "sd"),
    "ungqr": Signature("mn k", "cz"),
    "ormqr": Signature("rk k mn", "sd", others=("left", "transpose")),
    "unmqr": Signature("rk k mn", "cz", others=("left", "transpose")),
    "trsm": Signature("kk mn", "sdcz", _flags("side", "uplo", "trans_x", "diag")),
    "syevd": Signature("nn", "sd", _SPECTRUM, has_free_signs=True),
    "heevd": Signature("nn", "cz", _SPECTRUM, has_free_signs=True),
    "gesdd": Signature("mn", "sdcz", _SVD, has_free_signs=True),
    "gesvd": Signature("mn", "sdcz", _SVD, has_free_signs=True),
    "geev": Signature("nn", "sdcz", _flags("compute_left", "compute_right"), has_free_signs=True),
    "gees": Signature("nn", "sdcz", _flags(mode="NV")),
    "gehrd": Signature("nn", "sdcz", others=("low", "high")),
    "sytrd": Signature("nn", "sd", _UPLO),
    "hetrd": Signature("nn", "cz", _UPLO),
    "gtsv": Signature("n n n nk", "sdcz"),
}


def target_name(routine: str, letter: str) -> str:
    """Returns the custom call's target for a routine and a type: `lapack_spotrf_ffi`."""
    return f"lapack_{letter}{routine}_ffi"


TARGETS: Mapping[str, tuple[str, str]] = {
    target_name(routine, letter): (routine, letter)
    for routine, signature in SIGNATURES.items()
    for letter in signature.letters
}
"""Custom call's target -> its routine and the letter of its type."""
