"""`xla ops`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from xla_core import hlo, stablehlo
from xla_core.hlo import Trait


def test_it_lists_every_op(xla: Callable[..., Any]) -> None:
    done = xla("ops")
    assert done.code == 0
    words = set(done.out.split())
    assert words >= set(stablehlo.OPS)
    assert words >= set(hlo.OPS)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("stablehlo.slice", ["start_indices", "type traits:", "becomes HLO `slice`", "func.func @main"]),
        (
            "slice",
            ["stablehlo.slice", "slice (HLO)", "the first index, the end and the step", "SliceDimension(start, limit"],
        ),
        ("dynamic_slice", ["stablehlo.dynamic_slice", "dynamic-slice (HLO)", "dynamic_slice_sizes"]),
        ("top_k", ["chlo.top_k", "default true"]),
        ("all-reduce", ["all-reduce (HLO)", "1 or more", "traits: collective"]),
    ],
)
def test_it_says_what_an_op_takes(xla: Callable[..., Any], name: str, shown: list[str]) -> None:
    done = xla("ops", name)
    assert done.code == 0, done.err
    for text in shown:
        assert text in done.out


def test_the_fields_of_a_structure_and_the_algorithms_that_are_known(xla: Callable[..., Any]) -> None:
    out = " ".join(xla("ops", "stablehlo.dot_general").out.split())
    assert "DotAlgorithm: lhs_precision_type, rhs_precision_type, accumulation_type, lhs_component_count" in out
    assert "dot_bf16_bf16_f32_x3" in out
    assert "dot_any_f8_any_f8_f32_fast_accum" in out


def test_what_an_op_becomes_is_not_what_it_means(xla: Callable[..., Any]) -> None:
    out = xla("ops", "chlo.digamma").out
    assert out.count("The derivative of lgamma") == 1
    assert "instructions of HLO, in the example: `" in out
    for op in stablehlo.OPS:
        reference = stablehlo.op_reference(op)
        assert reference.lowering != reference.doc or reference.hlo is None, op


def test_an_unknown_op_is_an_error_that_names_the_nearest(xla: Callable[..., Any]) -> None:
    done = xla("ops", "stablehlo.slce")
    assert done.code == 2
    assert "slice" in done.err


def test_piped_tables_keep_their_rows(xla: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS")
    line = next(line for line in xla("ops").out.splitlines() if "stablehlo.transpose" in line)
    assert "permutation[i]" in line


def test_the_attributes_of_primitive_ops_say_what_they_mean(xla: Callable[..., Any]) -> None:
    primitive = [op for op in hlo.OPS.values() if Trait.PRIMITIVE in op.traits]
    assert len(primitive) > 15
    for op in [*primitive, hlo.lookup("dot")]:
        out = xla("ops", op.opcode).out
        for name, attribute in op.attributes.items():
            if name not in ("operand_precision", "algorithm"):
                assert attribute.doc.endswith("."), f"{op.opcode} {name}"
                assert f"{name} " in out
                assert attribute.doc in out


def test_each_kind_of_attribute_says_its_form() -> None:
    assert all(attribute.kind.form for op in hlo.OPS.values() for attribute in op.attributes.values())
