"""`check_pass`: runs a pass on HLO text and proves that the program means the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.roundings import assert_within
from xla_core.hlo import ElementType
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes import HloPassPipeline, PassContext, create_pass


def random_array(shape, generator):
    """Values of every sign, small enough that sums stay exact enough to compare."""
    dtype, size = shape.dtype, shape.dimensions
    element_type = shape.element_type
    if element_type is ElementType.PRED:
        return generator.integers(0, 2, size).astype(bool)
    if element_type.is_integral:
        low = -4 if element_type.is_signed else 0
        low, high = (max(low, -2), 2) if element_type.bit_width < 4 else (low, 8)
        return generator.integers(low, high, size).astype(dtype)
    if element_type.is_complex:
        return (generator.normal(size=size) + 1j * generator.normal(size=size)).astype(dtype)
    return generator.normal(size=size).astype(dtype)


def random_inputs(module, seed=0):
    generator = np.random.default_rng(seed)
    return [random_array(leaf, generator) for s in module.parameter_shapes for leaf in s.leaves() if leaf.is_array]


@pytest.fixture
def check_pass():
    """check_pass(text, pass, inputs=None, changes=True) -> the changed module, verified and found equal in meaning, up to
    that many roundings of a floating-point result.

    `pass` is a pass or the name of one. `text` may be the body of an entry computation alone.
    """

    def check(text, hlo_pass, inputs=None, *, changes=True, roundings=8):
        if "HloModule" not in text:
            text = f"HloModule m\n{text if 'ENTRY' in text else 'ENTRY e {' + text + '}'}"
        module = parse_hlo(text)
        verify(module)
        given = random_inputs(module) if inputs is None else [np.asarray(i) for i in inputs]
        before = evaluate(module, *given)
        made = create_pass(hlo_pass) if isinstance(hlo_pass, str) else hlo_pass
        context = PassContext(invariants=[verify])
        changed = context.run(made if not isinstance(made, list) else HloPassPipeline("test", made), module, ())
        assert changed == changes, f"the pass says changed={changed}:\n{module}"
        after = evaluate(module, *given)
        for b, a in zip(before, after, strict=True):
            assert_within(roundings, a, b)
        return module

    return check


@pytest.fixture
def opcodes():
    """The opcodes of the entry in post-order, parameters left out."""

    def of(module, computation=None):
        return [i.opcode for i in (computation or module.entry).post_order() if i.opcode != "parameter"]

    return of
