"""Runs passes on HLO text and proves that the program means the same: the fixture `check_pass`, and `.hlo` files.

A `.hlo` file holds cases, separated by `// -----`. A case is a comment that names it, a line `// RUN: PASS,... [FLAGS]`,
a program, and CHECK lines that filecheck matches with the program after the passes. Every case also evaluates the
program before and after, on the same random arguments, and verifies it after every pass. The flags:

    --unchanged         the passes change nothing; such a case needs no CHECK lines
    --special           evaluate on infinities, NaN and signed zeros too, and compare the results bit by bit
    --exact             compare the results bit by bit, not up to eight roundings
    --no-evaluate       the evaluator can't run the program, or its results are random
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts

from tests.roundings import assert_within
from xla_core.hlo import ElementType, Opcode
from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.verifier import verify
from xla_core.passes import HloPassPipeline, PassContext, create_pass
from xla_core.passes.legalization import Legalization
from xla_core.passes.legalization.carriers import ElementTypeCarrier
from xla_core.passes.simplifiers.algebraic_simplifier import AlgebraicSimplifierOptions
from xla_core.target import Capabilities

VARIANTS = {
    "algebraic-simplifier{fast_math}": lambda: create_pass(
        "algebraic-simplifier", options=AlgebraicSimplifierOptions(fast_math=True)
    ),
    "concatenate-splitter{4}": lambda: create_pass("concatenate-splitter", max_operands=4),
    "scatter-sorter{floats}": lambda: create_pass("scatter-sorter", floats=True),
    "element-type-carrier{f32,s32}": lambda: ElementTypeCarrier(
        Capabilities().with_ops([Opcode.ADD], [ElementType.F32, ElementType.S32])
    ),
    **{
        f"legalization{{{op}}}": lambda op=op: Legalization(Capabilities.all_of(without=[op]).check)
        for op in (Opcode.RAGGED_DOT, Opcode.SCALED_DOT, Opcode.SCAN)
    },
}
"""Passes with options, by the name that a RUN line gives them."""

SPECIAL = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.0, 1e-38, 3e38])


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
    return [random_array(leaf, generator) for s in module.parameter_shapes for leaf in s.array_leaves()]


def special_inputs(module):
    """Infinities, NaN, signed zeros, and numbers near the ends of the range; integers are 0 or 1."""
    generator = np.random.default_rng(1)
    return [
        generator.choice(SPECIAL, s.dimensions).astype(s.dtype)
        if s.element_type.is_floating
        else generator.integers(0, 2, s.dimensions).astype(s.dtype)
        for s in module.parameter_shapes
    ]


def assert_same_bits(expected, found):
    """Equal bit by bit, but for the sign and payload of a NaN."""
    nan = expected != expected
    np.testing.assert_array_equal(nan, found != found)
    assert expected[~nan].tobytes() == found[~nan].tobytes()


def run_passes(module, hlo_pass):
    """Runs a pass, a list of passes or passes named "a,b"; verifies after each; returns whether the module changed."""
    if isinstance(hlo_pass, str):
        hlo_pass = [
            VARIANTS.get(name, lambda name=name: create_pass(name))() for name in re.split(r",(?![^{]*})", hlo_pass)
        ]
    made = HloPassPipeline("test", hlo_pass) if isinstance(hlo_pass, list) else hlo_pass
    return PassContext(invariants=[verify]).run(made, module, ())


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
        changed = run_passes(module, hlo_pass)
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


def pytest_collect_file(file_path, parent):
    return HloFile.from_parent(parent, path=file_path) if file_path.suffix == ".hlo" else None


class HloFile(pytest.File):
    """A file of cases."""

    def collect(self):
        for text in re.split(r"^// -----\n", self.path.read_text(), flags=re.MULTILINE):
            run = re.search(r"^// RUN: (\S+)(.*)$", text, re.MULTILINE)
            if run is None:
                continue  # the comment at the head of the file
            name = text.removeprefix("// ").partition("\n")[0]
            yield HloCase.from_parent(self, name=name, text=text, passes=run[1], flags=set(run[2].split()))


class HloCase(pytest.Item):
    """A program, passes, and what is left of it."""

    def __init__(self, *, text, passes, flags, **kwargs):
        super().__init__(**kwargs)
        self.text, self.passes, self.flags = text, passes, flags

    def runtest(self):
        assert self.flags <= {"--unchanged", "--special", "--exact", "--no-evaluate"}, self.flags
        text = self.text if "HloModule" in self.text else "HloModule m\n" + self.text
        module = parse_hlo(text)
        verify(module)
        printed = module.to_text()
        changed = run_passes(module, self.passes)
        after = module.to_text()
        assert changed == ("--unchanged" not in self.flags), after
        if not changed:
            assert after == printed
        if "--no-evaluate" not in self.flags:
            self.compare(parse_hlo(text), module)
        if changed or "// CHECK" in self.text:
            self.filecheck(after)

    def compare(self, before, after):
        inputs = random_inputs(before)
        for b, a in zip(evaluate(before, *inputs), evaluate(after, *inputs), strict=True):
            assert_same_bits(b, a) if "--exact" in self.flags else assert_within(8, a, b)
        if "--special" in self.flags:
            inputs = special_inputs(before)
            for b, a in zip(evaluate(before, *inputs), evaluate(after, *inputs), strict=True):
                assert_same_bits(b, a)

    def filecheck(self, after):
        options = Options(match_filename=str(self.path))
        checks = Parser(options, io.StringIO(self.text), *pattern_for_opts(options))
        output = io.StringIO()
        with contextlib.redirect_stderr(output):
            code = Matcher(options, FInput("output", after), checks).run()
        assert code == 0, f"{output.getvalue()}\n{after}"

    def repr_failure(self, excinfo, style=None):
        return (
            f"{self.path}: {self.name}\n{excinfo.value}"
            if excinfo.errisinstance(AssertionError)
            else super().repr_failure(excinfo)
        )

    def reportinfo(self):
        return Path(self.path), None, self.name
