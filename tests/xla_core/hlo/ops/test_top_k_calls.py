"""XLA's custom calls TopK and ApproxTopK: a wrong one is an error with its location and the reason."""

from __future__ import annotations

import numpy as np
import pytest

from xla_core.errors import InvalidArgumentError
from xla_core.hlo import evaluate, parse_hlo, verify

LARGER = """HloModule m
larger {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GT
}
smaller_integer {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[3,4] parameter(0)
  i = s32[] constant(0)
  c = f32[] constant(-inf)
  ROOT r = """
APPROX = 'custom_call_target="ApproxTopK", called_computations={larger}'

WRONG = {
    "one array": ('f32[3,2] custom-call(x), custom_call_target="TopK"', "two arrays"),
    "scalars": ('(f32[], s32[]) custom-call(x), custom_call_target="TopK"', "two arrays"),
    "empty tuple": ('() custom-call(x), custom_call_target="TopK"', "two arrays"),
    "two operands": ('(f32[3,2], s32[3,2]) custom-call(x, x), custom_call_target="TopK"', "one operand"),
    "no operand": ('(f32[3,2], s32[3,2]) custom-call(), custom_call_target="TopK"', "one operand"),
    "float indices": ('(f32[3,2], f32[3,2]) custom-call(x), custom_call_target="TopK"', "declared as"),
    "too large k": ('(f32[3,5], s32[3,5]) custom-call(x), custom_call_target="TopK"', "k = 5"),
    "a tuple": ('(f32[3,2], (s32[3,2])) custom-call(x), custom_call_target="TopK"', "declared as"),
    "reduction_dim": (f'f32[3,2] custom-call(x, c), {APPROX}, backend_config="{{reduction_dim = 7 : i64}}"', "dim 7"),
    "negative": (f'f32[3,2] custom-call(x, c), {APPROX}, backend_config="{{reduction_dim = -1 : i64}}"', "dim -1"),
    "a word": (f'f32[3,2] custom-call(x, c), {APPROX}, backend_config="{{reduction_dim = true}}"', "dim True"),
    "grows": (f"f32[3,5] custom-call(x, c), {APPROX}", "declared as"),
    "another dimension": (f"f32[2,2] custom-call(x, c), {APPROX}", "declared as"),
    "rank": (f"f32[3] custom-call(x, c), {APPROX}", "declared as"),
    "type": (f"s32[3,2] custom-call(x, c), {APPROX}", "declared as"),
    "no initial value": (f"f32[3,2] custom-call(x), {APPROX}", "as many initial values"),
    "initial value": (f"f32[3,2] custom-call(x, i), {APPROX}", "an initial value is s32"),
    "no comparator": ('f32[3,2] custom-call(x, c), custom_call_target="ApproxTopK"', "one comparator"),
    "comparator": (f"f32[3,2] custom-call(x, c), {APPROX.replace('{larger}', '{smaller_integer}')}", "two scalars"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_one_is_refused(case: str) -> None:
    call, message = WRONG[case]
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        verify(parse_hlo(f'{LARGER}{call}, metadata={{source_file="model.py" source_line=3}}\n}}'))
    assert caught.value.op == "custom-call"
    assert str(caught.value).startswith("model.py:3: ")


@pytest.mark.parametrize("result", ["f32[3,2]", "(f32[3,2])"])
@pytest.mark.parametrize("config", ["", ', backend_config="{reduction_dim = 1 : i64, top_k = 2 : i64}"'])
def test_a_right_approximate_one(result: str, config: str) -> None:
    module = parse_hlo(f"{LARGER}{result} custom-call(x, c), {APPROX}{config}\n}}")
    verify(module)
    x = np.array([[1, 4, 2, 3], [0, -1, -2, -3], [7, 7, 8, 1]], np.float32)
    (found,) = evaluate(module, x)
    np.testing.assert_array_equal(found, [[4, 3], [0, -1], [8, 7]])
