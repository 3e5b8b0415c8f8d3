"""Invalid bounds, and results that HLO has no type for, are errors with a location."""

from __future__ import annotations

import pytest

import xla_core as xla
from xla_core.errors import InvalidArgumentError, UnimplementedError
from xla_core.stablehlo import Module, ir, lower, parse_text, verify

# -- bounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["#stablehlo.bounds<-4, ?>", "#stablehlo.type_extensions<bounds = [-4, ?]>"])
def test_negative_bounds(encoding: str) -> None:
    """MLIR reads and verifies them; no size is within them."""
    text = f"\nfunc.func @main(%a: tensor<?x2xf32, {encoding}>) {{\n  return\n}}\n"
    verify(parse_text(text))
    with pytest.raises(InvalidArgumentError, match="the bound of dimension 0 is -4, but must be at least 0") as caught:
        xla.parse(text)
    assert caught.value.location is not None
    assert caught.value.location.line == 2


def test_negative_bounds_of_what_is_built_in_python() -> None:
    block = ir.Block([ir.TensorType((ir.DYNAMIC,), "f32", (-4,))])
    block.ops = [ir.Op("func.return", [], [])]
    type = ir.FunctionType(tuple(a.type for a in block.arguments), ())
    function = ir.Op("func.func", [], [], {"sym_name": "main", "function_type": type}, [ir.Region([block])])
    with pytest.raises(InvalidArgumentError, match="the bound of dimension 0 is -4"):
        lower(Module("m", functions={"main": function}))


# -- results that HLO has no type for ------------------------------------------------------------------------------


def test_a_future_as_a_result_has_a_place() -> None:
    future = "!stablehlo.future<tensor<2xf32>>"
    text = f"""func.func @main(%x: tensor<2xf32>) -> {future} {{
  %0 = "stablehlo.async_start"(%x) ({{
  ^bb0(%a: tensor<2xf32>):
    %1 = stablehlo.slice %a [0:2] : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }}) : (tensor<2xf32>) -> {future}
  return %0 : {future}
}}
"""
    with pytest.raises(UnimplementedError, match=r"^<input>:7:3: .*type !stablehlo.future.* has no counterpart in HLO"):
        xla.parse(text)
