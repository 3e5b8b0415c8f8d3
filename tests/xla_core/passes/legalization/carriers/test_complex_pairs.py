"""Complex numbers inside of programs for devices that hold none: the reference evaluator gives the same results."""

from __future__ import annotations

import numpy as np
import pytest

import xla_core as xla
from tests.xla_core.passes.legalization.devices import PRIMITIVES
from xla_core.errors import UnimplementedError
from xla_core.hlo.values.element_type import ElementType
from xla_core.hlo.verifier import verify
from xla_core.passes import PassContext, default_pipeline
from xla_core.target import Capabilities, TargetConfig

T = ElementType
TARGET = TargetConfig(name="real", capabilities=Capabilities().with_ops(PRIMITIVES, [T.F32, T.S32, T.PRED]))
LOOP = """HloModule iterate
goes_on { p = (s32[], c64[6], s32[6]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  most = s32[] constant(9)
  ROOT more = pred[] compare(n, most), direction=LT }
step { p = (s32[], c64[6], s32[6]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  z = c64[6] get-tuple-element(p), index=1
  count = s32[6] get-tuple-element(p), index=2
  one = s32[] constant(1)
  next = s32[] add(n, one)
  c = c64[6] constant({(0.1, 0.2), (-1, 0.3), (0.3, 0.5), (-0.7, 0.2), (1, 1), (0, -1)})
  square = c64[6] multiply(z, z)
  new = c64[6] add(square, c)
  size = f32[6] abs(new)
  two = f32[6] constant({2, 2, 2, 2, 2, 2})
  inside = pred[6] compare(size, two), direction=LE
  whole = s32[6] convert(inside)
  counted = s32[6] add(count, whole)
  kept = c64[6] select(inside, new, z)
  ROOT t = (s32[], c64[6], s32[6]) tuple(next, kept, counted) }
ENTRY e { x = f32[6] parameter(0)
  zero = s32[] constant(0)
  none = s32[6] constant({0, 0, 0, 0, 0, 0})
  z = c64[6] complex(x, x)
  start = (s32[], c64[6], s32[6]) tuple(zero, z, none)
  end = (s32[], c64[6], s32[6]) while(start), condition=goes_on, body=step
  last = c64[6] get-tuple-element(end), index=1
  real = f32[6] real(last)
  imaginary = f32[6] imag(last)
  counted = s32[6] get-tuple-element(end), index=2
  ROOT t = (f32[6], f32[6], s32[6]) tuple(real, imaginary, counted) }
"""
BRANCHES = """HloModule branches
turned { z = c64[4] parameter(0)
  i = c64[4] constant({(0, 1), (0, 1), (0, 1), (0, 1)})
  ROOT t = c64[4] multiply(z, i) }
exponential { z = c64[4] parameter(0)
  ROOT t = c64[4] exponential(z) }
ENTRY e { x = f32[6] parameter(0)
  front = f32[4] slice(x), slice={[0:4]}
  back = f32[4] slice(x), slice={[2:6]}
  z = c64[4] complex(front, back)
  first = f32[1] slice(x), slice={[0:1]}
  number = f32[] reshape(first)
  zero = f32[] constant(0)
  is = pred[] compare(number, zero), direction=GT
  c = c64[4] conditional(is, z, z), true_computation=turned, false_computation=exponential
  called = c64[4] call(c), to_apply=turned
  r = f32[4] real(called)
  i = f32[4] imag(called)
  ROOT t = (f32[4], f32[4]) tuple(r, i) }
"""
SPECTRUM = """HloModule spectrum
plus { a = c64[] parameter(0)
  b = c64[] parameter(1)
  ROOT c = c64[] add(a, b) }
ENTRY e { x = f32[3,16] parameter(0)
  f = c64[3,9] fft(x), fft_type=RFFT, fft_length={16}
  ft = c64[9,3] transpose(f), dimensions={1,0}
  product = c64[3,3] dot(f, ft), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  zero = c64[] constant((0, 0))
  sum = c64[3] reduce(product, zero), dimensions={1}, to_apply=plus
  size = f32[3] abs(sum)
  back = f32[3,16] fft(f), fft_type=IRFFT, fft_length={16}
  reversed = c64[3,9] reverse(f), dimensions={1}
  part = c64[3,2] slice(reversed), slice={[0:3], [1:3]}
  angles = f32[3,2] imag(part)
  ROOT t = (f32[3], f32[3,16], f32[3,2]) tuple(size, back, angles) }
"""
CONVERSIONS = """HloModule conversions
ENTRY e { x = f32[6] parameter(0)
  z = c64[6] convert(x)
  whole = s32[6] convert(x)
  w = c64[6] convert(whole)
  sum = c64[6] subtract(z, w)
  any = pred[6] convert(w)
  none = f32[6] subtract(x, x)
  turned = c64[6] complex(none, x)
  all = pred[6] convert(turned)
  size = f32[6] abs(sum)
  ROOT t = (f32[6], pred[6], pred[6]) tuple(size, any, all) }
"""


@pytest.mark.parametrize(
    ("text", "shape"),
    [(LOOP, (6,)), (BRANCHES, (6,)), (SPECTRUM, (3, 16)), (CONVERSIONS, (6,))],
    ids=["loop", "branches", "spectrum", "conversions"],
)
@pytest.mark.parametrize("sign", [1, -1])
def test_complex_numbers_inside_are_pairs(text: str, shape: tuple[int, ...], sign: int) -> None:
    x = sign * np.random.default_rng(0).uniform(0.1, 1, shape).astype(np.float32)
    expected = xla.evaluate(xla.parse(text), x)
    module = xla.parse(text)
    PassContext(invariants=[verify]).run(default_pipeline(TARGET), module, ())
    held = {leaf.element_type for c in module.computations for i in c.instructions for leaf in i.shape.leaves()}
    assert held <= {T.F32, T.S32, T.PRED}
    for found, wanted in zip(xla.evaluate(module, x), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


OUTSIDE = {
    "parameter": "ENTRY e { z = c64[2,3] parameter(0)\n w = c64[2,3] multiply(z, z)\n ROOT r = f32[2,3] abs(w) }",
    "result": "ENTRY e { z = c64[2,3] parameter(0)\n ROOT w = c64[2,3] multiply(z, z) }",
    "the same": "ENTRY e { ROOT z = c64[2,3] parameter(0) }",
    "scalar": (
        "ENTRY e { z = c64[2,3] parameter(0)\n part = c64[1,1] slice(z), slice={[1:2], [2:3]}\n"
        " ROOT s = c64[] reshape(part) }"
    ),
    "several": (
        "ENTRY e { z = c64[2,3] parameter(0)\n i = f32[2,3] imag(z)\n w = c64[2,3] exponential(z)\n"
        " t = c64[3,2] transpose(w), dimensions={1,0}\n"
        " ROOT r = (c64[2,3], f32[2,3], c64[3,2], c64[2,3]) tuple(z, i, t, w) }"
    ),
    "none": "ENTRY e { z = c64[2,3] parameter(0)\n p = c64[2,0] slice(z), slice={[0:2], [1:1]}\n ROOT c = c64[2,0] copy(p) }",
}


@pytest.mark.parametrize("place", OUTSIDE)
def test_complex_arguments_and_results_are_pairs_in_memory(place: str) -> None:
    text = f"HloModule m\n{OUTSIDE[place]}\n"
    rng = np.random.default_rng(0)
    z = (rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3))).astype(np.complex64)
    module = xla.parse(text)
    PassContext(invariants=[verify]).run(default_pipeline(TARGET), module, ())
    for i in (i for c in module.computations for i in c.instructions):
        assert (
            i.shape.element_type is not T.C64
            or i.opcode in ("parameter", "bitcast", "copy")
            or not i.shape.num_elements
        )
    for found, wanted in zip(xla.evaluate(module, z), xla.evaluate(xla.parse(text), z), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_arguments_that_are_tuples_are_refused() -> None:
    """The core takes them apart before."""
    text = """HloModule m
ENTRY e {
  p = (c64[3], f32[3]) parameter(0)
  z = c64[3] get-tuple-element(p), index=0
  ROOT w = c64[3] multiply(z, z)
}
"""
    with pytest.raises(UnimplementedError, match="there is no multiply of c64"):
        PassContext(invariants=[verify]).run(default_pipeline(TARGET), xla.parse(text), ())


def test_a_device_that_says_what_it_holds_is_not_given_more() -> None:
    real = TARGET.capabilities.model_copy(update={"storage_types": frozenset({T.F32, T.S32, T.PRED})})
    with pytest.raises(UnimplementedError, match="the device holds no c64"):
        PassContext().run(
            default_pipeline(TargetConfig(name="real", capabilities=real)),
            xla.parse(f"HloModule m\n{OUTSIDE['parameter']}\n"),
            (),
        )


def test_complex_values_that_are_only_passed_on_stay_whole() -> None:
    """A device without slices and concatenations can return what it got."""
    little = TargetConfig(name="little", capabilities=Capabilities().with_ops(["add"], [T.F32]))
    module = xla.parse(
        "HloModule m\nENTRY e { z = c64[3] parameter(0)\n  x = f32[3] parameter(1)\n  y = f32[3] add(x, x)\n"
        "  after = token[] after-all()\n  same = c64[3] add-dependency(z, after)\n"
        "  ROOT t = (c64[3], f32[3]) tuple(same, y) }\n"
    )
    PassContext(invariants=[verify]).run(default_pipeline(little), module, ())
    assert not any(i.opcode in ("slice", "concatenate") for i in module.entry.instructions)
