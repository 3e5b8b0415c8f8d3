"""convolution-phase-splitter: which convolutions it splits, and that the results stay the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from xla_core.hlo.evaluator import evaluate
from xla_core.hlo.ir.module import HloModule
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.hlo.table.attributes import WindowDimension
from xla_core.hlo.verifier import verify
from xla_core.passes import create_pass
from xla_core.target import FusionCosts

FREE = FusionCosts(kernel=0.0, byte=0.0)

window_dimension = st.builds(
    WindowDimension,
    size=st.integers(1, 5),
    stride=st.integers(1, 4),
    padding_low=st.integers(-2, 5),
    padding_high=st.integers(-2, 5),
    base_dilation=st.integers(1, 4),
    window_dilation=st.integers(1, 3),
    window_reversal=st.booleans(),
)


def _window_text(window: list[WindowDimension]) -> str:
    fields = {
        "size": [d.size for d in window],
        "stride": [d.stride for d in window],
        "pad": [f"{d.padding_low}_{d.padding_high}" for d in window],
        "lhs_dilate": [d.base_dilation for d in window],
        "rhs_dilate": [d.window_dilation for d in window],
        "rhs_reversal": [int(d.window_reversal) for d in window],
    }
    return " ".join(f"{name}={'x'.join(map(str, values))}" for name, values in fields.items())


def _convolution(
    window: list[WindowDimension],
    base: list[int],
    *,
    batch: int = 2,
    features: tuple[int, int] = (2, 2),
    groups: tuple[int, int] = (1, 1),
    element: str = "s32",
) -> HloModule:
    """A convolution with the batch first in the image and last but one in the result. `batch` and `features` are those
    of each group.
    """
    feature_groups, batch_groups = groups

    def shape(*sizes: int) -> str:
        return f"{element}[{','.join(map(str, sizes))}]"

    image = shape(batch * batch_groups, feature_groups * features[0], *base)
    kernel = shape(*(d.size for d in window), features[0], max(groups) * features[1])
    result = shape(*(d.output_size(n) for d, n in zip(window, base, strict=True)), batch, max(groups) * features[1])
    spatial = "012"[: len(window)]
    module = parse_hlo(f"""HloModule m
ENTRY e {{
  x = {image} parameter(0)
  y = {kernel} parameter(1)
  ROOT r = {result} convolution(x, y), window={{{_window_text(window)}}}, dim_labels=bf{spatial}_{spatial}io->{spatial}bf, \
feature_group_count={feature_groups}, batch_group_count={batch_groups}
}}""")
    verify(module)
    return module


def _windows(module: HloModule) -> list[tuple[WindowDimension, ...]]:
    return [i.attribute("window") for i in module.entry.post_order() if i.opcode == "convolution"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(window_dimension, st.integers(1, 5)), min_size=1, max_size=2),
    st.integers(1, 2),
    st.tuples(st.integers(1, 2), st.integers(1, 2)),
    st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2)]),
)
def test_results_stay_the_same(dimensions, batch, features, groups) -> None:
    window, base = [d for d, _ in dimensions], [n for _, n in dimensions]
    assume(all(d.output_size(n) for d, n in dimensions))
    module = _convolution(window, base, batch=batch, features=features, groups=groups)
    rng = np.random.default_rng(0)
    arguments = [rng.integers(-9, 9, p.shape.dimensions, np.int32) for p in module.entry.parameters]
    (before,) = evaluate(module, *arguments)
    changed = create_pass("convolution-phase-splitter", costs=FREE).run(module)
    verify(module)
    (after,) = evaluate(module, *arguments)
    np.testing.assert_array_equal(after, before)
    assert not changed or all(d.base_dilation == 1 for w in _windows(module) for d in w)


def test_each_phase_has_its_own_taps() -> None:
    module = _convolution([WindowDimension(5, 1, 2, 2, base_dilation=2)], [8])
    assert create_pass("convolution-phase-splitter", costs=FREE).run(module)
    assert [w[0].size for w in _windows(module)] == [3, 2]


def test_strides_like_the_dilation_leave_one_phase() -> None:
    module = _convolution([WindowDimension(5, 2, 2, 2, base_dilation=2)], [8])
    assert create_pass("convolution-phase-splitter").run(module)
    assert _windows(module) == [(WindowDimension(3, 1, 1, 1),)]
    assert "concatenate" not in [i.opcode for i in module.entry.instructions]


def test_outputs_that_meet_no_element_are_zeros() -> None:
    module = _convolution([WindowDimension(1, 1, 0, 0, base_dilation=3)], [4])
    assert create_pass("convolution-phase-splitter", costs=FREE).run(module)
    assert len(_windows(module)) == 1


@pytest.mark.parametrize(
    ("size", "features", "groups", "dilation", "splits"),
    [
        (16, 32, 1, 2, True),
        (16, 32, 1, 1, False),  # without dilation there is nothing to save
        (4, 4, 1, 2, False),  # takes less time than the additional kernels
        (16, 32, 4, 2, True),
        (64, 32, 16, 2, False),  # each group of a phase may be a kernel
        (16, 32, 1, 5, False),  # 25 phases
    ],
)
def test_what_saves_time_is_split(size: int, features: int, groups: int, dilation: int, splits: bool) -> None:
    window = [WindowDimension(3, 1, 1, 1, base_dilation=dilation)] * 2
    module = _convolution(window, [size] * 2, features=(features, features), groups=(groups, 1), element="f32")
    assert create_pass("convolution-phase-splitter").run(module) == splits


def test_floats_are_rounded_alike(check_pass) -> None:
    window = [WindowDimension(4, 1, 2, 2, base_dilation=2)] * 2
    check_pass(str(_convolution(window, [5, 4], element="f32")), create_pass("convolution-phase-splitter", costs=FREE))
