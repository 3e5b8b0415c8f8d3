"""Failure: the error of a test whose device is wrong, with a sentence of the contract and the data that show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from xla_core.hlo import ElementType, HloModule


class Failure(AssertionError):
    """A result that differs from the contract's or the reference evaluator's.

    The runner prints it without Python source, and writes the module and the arrays into the report's folder.

    Args:
        sentence: one sentence that says, in the contract's words, what the device did wrong.
        promise: the id of the contract's sentence that the device breaks; several, with spaces between them, if it may
            be any of these; empty for the result of an op, whose meaning the op table has.
        module: the HLO module that ran, or its text.
        arguments: the module's arguments.
        operands: the operands of the instruction under test that computed the wrong result, if the test has one.
        results: all results of the device.
        expected: all results as they should be.
        number: which result is wrong.
        index: its wrong element; None if there is no single one.
        ulp: the element's error in units in the last place; None if that says nothing. It is left out for integers.
        seed: the seed that the arguments come from; None for the run's seed.
    """

    def __init__(
        self,
        sentence: str,
        *,
        promise: str,
        module: HloModule | str = "",
        arguments: Sequence[np.ndarray] = (),
        operands: Sequence[np.ndarray] = (),
        results: Sequence[np.ndarray] = (),
        expected: Sequence[np.ndarray] = (),
        number: int = 0,
        index: Sequence[int] | None = None,
        ulp: float | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence, self.promise = sentence, promise
        self.module = module if isinstance(module, str) else module.to_text()
        self.arguments, self.results, self.expected = list(arguments), list(results), list(expected)
        self._operands = list(operands)
        self.number, self.index = number, None if index is None else tuple(int(i) for i in index)
        self.ulp, self.seed = (ulp if _is_rounded(self.expected, number) else None), seed

    @property
    def got(self) -> str:
        """The wrong element as the device computed it, with its bits."""
        return _element(self.results, self.number, self.index)

    @property
    def wanted(self) -> str:
        """The element as it should be, with its bits."""
        return _element(self.expected, self.number, self.index)

    @property
    def operands(self) -> list[str]:
        """The operands' elements at that index; an operand of another shape is shown if it is a scalar."""
        if self.number >= len(self.results) or self.index is None:
            return []
        dimensions = self.results[self.number].shape
        shown = []
        for i, operand in enumerate(self._operands):
            if operand.shape in (dimensions, ()):
                shown.append(_element(self._operands, i, self.index if operand.shape == dimensions else ()))
            else:
                shown.append(f"{operand.dtype}{list(operand.shape)}")
        return shown

    def __str__(self) -> str:
        if not self.got:
            return self.sentence
        at = "" if self.index is None else f" at [{','.join(map(str, self.index))}]"
        return f"{self.sentence} Result {self.number}{at}: got {self.got}, wanted {self.wanted}."


def _is_rounded(arrays: Sequence[np.ndarray], number: int) -> bool:
    """Whether the array has a last place that is rounded: floats and complex numbers have, integers and preds don't."""
    if number >= len(arrays):
        return False
    element_type = ElementType.from_numpy(arrays[number].dtype)
    return element_type.is_floating or element_type.is_complex


def snapshot(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Copies a device's results before they are compared: a late copy may change them before they are reported."""
    return [np.array(array) for array in arrays]


def _element(arrays: Sequence[np.ndarray], number: int, index: Sequence[int] | None) -> str:
    if number >= len(arrays) or index is None or len(index) != arrays[number].ndim:
        return ""
    at: tuple[Any, ...] = (*index, ...)  # the element as an array, which keeps the byte of a truth value
    element = np.asarray(arrays[number])[at]
    kind, data = element.dtype.kind, element.tobytes()
    if kind in "iu" or (kind == "b" and data in (b"\0", b"\1")):
        return str(element)
    return f"{element} (0x{data[::-1].hex()})"
