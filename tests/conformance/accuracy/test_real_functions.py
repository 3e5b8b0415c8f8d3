"""Errors of real functions on the evaluator, the CPU and the template backend are within the bounds."""

from __future__ import annotations

import json

import numpy as np
import pytest
from xla_conformance.accuracy.bounds import bound
from xla_conformance.accuracy.frame import Check, Measured, Row, Worst
from xla_conformance.accuracy.real_functions import cases as real
from xla_conformance.accuracy.real_functions.formats import Exact, all_values, errors, format_of
from xla_conformance.accuracy.real_functions.points import hard_angles, one_operand
from xla_conformance.accuracy.report import from_json, markdown, reason, to_json
from xla_conformance.accuracy.suite import measure, select
from xla_conformance.subjects import BackendSubject, EvaluatorSubject, Subject

import xla_core as xla
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.hlo import ElementType as T

pytest.importorskip("flint")
mpmath = pytest.importorskip("mpmath")
pytest.importorskip("scipy")

CHECKS = real.checks()
SLOW_TO_COMPILE = ("zeta", "polygamma")
NARROW = {"f8e4m3fn", "bf16"}
SAMPLE = [c for i, c in enumerate(CHECKS) if c.element_type == "f32" or (c.element_type in NARROW and i % 4 == 0)]
EVERY_TYPE = [c for c in CHECKS if c.function in ("next_after", "logistic")]
POINTS = 20_000


def named(check: Check) -> str:
    return f"{check.function}-{check.element_type}"


def hold(check: Check, subject: Subject, points: int) -> None:
    found = check.measure(subject, points)
    limit = bound(check.group, check.function, check.element_type, subject.column)
    assert found.points > 0
    assert not found.wrong, found.first_wrong
    assert limit is not None
    assert found.error <= limit, found.worst


@pytest.fixture(scope="module", params=["cpu", "template"])
def backend(request):
    with xla.Client(request.param) as client:
        yield BackendSubject(client, "emitter")


@pytest.mark.parametrize("check", [*SAMPLE, *EVERY_TYPE], ids=named)
def test_evaluator(check):
    hold(check, EvaluatorSubject(), POINTS)


@pytest.mark.parametrize("check", [c for c in SAMPLE if c.function not in SLOW_TO_COMPILE], ids=named)
def test_backend(check, backend):
    hold(check, backend, POINTS)


@pytest.mark.parametrize("function", ["sine", "power", "erfc", "digamma"])
def test_f64(function, backend):
    (check,) = [c for c in CHECKS if c.function == function and c.element_type == "f64"]
    hold(check, EvaluatorSubject(), POINTS)
    hold(check, backend, POINTS)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=named)
def test_everything_on_ten_million_points(check, backend):
    hold(check, EvaluatorSubject(), 10_000_000)
    hold(check, backend, 10_000_000)


# -- the measure itself ------------------------------------------------------------------------------------------------


class Off(EvaluatorSubject):
    """The evaluator's results, changed."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def run(self, program, *arrays):
        return [self.change(np.array(r)) for r in super().run(program, *arrays)]


def check_of(function: str, element_type: str) -> Check:
    (found,) = [c for c in CHECKS if (c.function, c.element_type) == (function, element_type)]
    return found


def test_an_error_of_three_steps_is_found():
    def change(results):
        results.view(np.int32)[17] += 3
        return results

    found = check_of("exponential", "f32").measure(Off(change), 3000)
    assert 2.5 <= found.error <= 3.5
    assert found.worst is not None


@pytest.mark.parametrize("element_type", ["bf16", "f8e4m3fn"])
def test_an_error_of_one_step_is_found_in_narrow_types(element_type):
    def change(results):
        bits = results.view(f"u{results.dtype.itemsize}")
        bits[5] ^= 1
        return results

    found = check_of("cosine", element_type).measure(Off(change), 0)
    assert 0.5 < found.error <= 1.5


def test_flushed_denormal_results_are_found():
    def flush(results):
        return np.where(np.abs(results) < np.finfo(np.float32).tiny, np.float32(0), results)

    assert check_of("exponential", "f32").measure(Off(flush), 3000).error > 1000


@pytest.mark.parametrize(
    ("change", "element_type"),
    [
        (lambda r: np.where(np.isnan(r), np.float32(0), r), "f32"),
        (lambda r: np.where(np.isinf(r), np.float32(3e38), r), "f32"),
        (np.abs, "f32"),
    ],
    ids=["nan", "infinity", "sign"],
)
def test_wrong_special_values_are_found(change, element_type):
    found = check_of("log_plus_one", element_type).measure(Off(change), 3000)
    assert found.wrong > 0
    assert found.first_wrong is not None


@pytest.mark.parametrize("element_type", [t for t in T if t.is_floating and t.bit_width <= 16], ids=str)
def test_rounding_is_that_of_ml_dtypes(element_type):
    """Compares rounding between all neighbours, at midpoints and beyond the ends, on f32 values, which ml_dtypes rounds once."""
    values = np.unique(all_values(element_type).astype(np.float32))
    values = values[np.isfinite(values)].astype(np.float64)
    middles = (values[:-1] + values[1:]) / 2
    points = np.concatenate([values, middles, middles * (1 + 2.0**-20), middles * (1 - 2.0**-20), [1e30, -1e30]])
    if element_type is T.F8E8M0FNU:  # whose negative numbers and denormal f32 have no nearest value
        points = points[points > 2.0**-125]
    points = points.astype(np.float32).astype(np.float64)
    with np.errstate(all="ignore"):
        expected = points.astype(np.float32).astype(element_type.dtype).astype(np.float64)
    np.testing.assert_array_equal(format_of(element_type).round(points), expected)


def test_errors_are_in_units_of_the_last_place():
    got = np.array([1.0, 2.0, -1.5, np.inf, 1e-45], np.float32)
    exact = Exact(np.array([1 + 2.0**-24, 2 - 2.0**-24, -1.5 + 2.0**-22, 3.4028236e38, 2.1e-45]))
    np.testing.assert_allclose(errors(got, exact, T.F32).ulp, [0.5, 0.25, 2, 0, 0.5], atol=0.01)
    floored = errors(np.array([1e-9], np.float32), Exact(np.array([2e-9])), T.F32, 1.0)
    np.testing.assert_allclose(floored.ulp, 1e-9 / 2.0**-23, rtol=1e-6)


@pytest.mark.parametrize(("element_type", "hardest"), [(T.F32, 2.0**-28), (T.F64, 2.0**-58)], ids=str)
def test_hard_angles_are_hard(element_type, hardest):
    """They are near multiples of pi / 2, some as near as any number of the type."""
    values = [float(x) for x in hard_angles(element_type) if x > 4]
    with mpmath.workprec(1400):
        turns = [mpmath.mpf(x) * 2 / mpmath.pi for x in values]
        gaps = sorted(float(abs(t - mpmath.nint(t))) for t in turns)
    assert gaps[0] < hardest
    assert gaps[len(gaps) // 2] < 2.0**-16


def test_points_are_of_every_exponent_and_the_same_each_time():
    (first,) = one_operand("f", T.F32, 60_000, ((0.0, 1.0),), (1.0,))
    (again,) = one_operand("f", T.F32, 60_000, ((0.0, 1.0),), (1.0,))
    np.testing.assert_array_equal(first.view(np.uint32), again.view(np.uint32))
    finite = first[np.isfinite(first) & (first != 0)]
    assert len(np.unique(np.frexp(finite)[1])) == 277
    assert np.isnan(first).any()


@pytest.mark.parametrize("function", sorted({f.name for f in real.FUNCTIONS} & set(real.precise.PRECISE)))
def test_the_two_oracles_agree(function):
    """The machine's extended precision and scipy agree with Arb: far within 0.01 ULP of f32."""
    (f,) = [f for f in real.FUNCTIONS if f.name == function]
    operands = next(iter(real._operands(f, T.F32, 4000)))
    with np.errstate(all="ignore"):
        operands = tuple(x[:: len(x) // 60].astype(np.float64) for x in operands)
        rough = real.oracles.WIDE[function](*operands)
        precise = real.precise.evaluate(function, operands, np.asarray(rough)).high
        floor = f.floor(*operands) if f.floor else np.zeros(len(precise))
        far = np.abs(np.asarray(rough, np.float64) - precise) > 1e-11 * np.maximum(np.abs(precise), floor)
    assert not far.any(), (operands[0][far], np.asarray(rough)[far], precise[far])


# -- the frame ---------------------------------------------------------------------------------------------------------


def test_select():
    names = {named(c) for c in select(CHECKS, "tanh and f32 or cbrt and not f64 and bf16")}
    assert names == {"tanh-f32", "atanh-f32", "cbrt-bf16"}
    with pytest.raises(InvalidArgumentError, match="not a valid expression"):
        select(CHECKS, "tanh and and f32")


def test_reports_can_be_read_again():
    worst = Worst("1.5", "inf", "3")
    rows = [
        Row("cpu", "real", "tanh", "f32", "ULP", 2.0, Measured(10, np.inf, worst, 1, worst, 0.5), 1.5),
        Row("cpu", "real", "tanh", "f16", "ULP", 1.0, None, 0.0, "no such op", supported=False),
    ]
    data = json.loads(json.dumps(to_json(rows, {"python": "3"})))
    assert from_json(data) == rows
    assert [r["holds"] for r in data["rows"]] == [False, True]
    assert "| `tanh` | - | **inf** |" in markdown(rows)


def test_a_check_without_a_bound_does_not_hold():
    row = Row("cpu", "new", "tanh", "f32", "ULP", None, Measured(10, 0.0))
    assert not row.holds
    assert reason(row) == "it has no bound in bounds.toml"


def test_what_a_backend_does_not_claim_is_no_failure():
    class Without(Subject):
        name, column = "without", "backend"

        def run(self, program, *arrays):
            raise UnimplementedError("no tanh")

    (row,) = measure(Without(), [check_of("tanh", "f16")], 10)
    assert row.holds
    assert not row.supported
    assert row.problem == "no tanh"


def test_bounds_are_looked_up_by_function_then_type():
    assert bound("real", "no_such", "f8e4m3fn", "backend") == bound("real", "no_such", "bf16", "backend") == 1
    assert bound("real", "no_such", "f32", "backend") == 4
    assert bound("no such group", "tanh", "f32", "backend") is None
