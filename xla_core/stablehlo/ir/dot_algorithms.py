"""The dot algorithms that XLA names."""

from __future__ import annotations

from xla_core.stablehlo.ir.structures import DotAlgorithm

# (lhs, rhs, accumulation types, primitive operations) -> XLA's name; every operand is one component.
_ALGORITHMS = {
    ("f16", "f16", "f16", 1): "dot_f16_f16_f16",
    ("f16", "f16", "f32", 1): "dot_f16_f16_f32",
    ("bf16", "bf16", "bf16", 1): "dot_bf16_bf16_bf16",
    ("bf16", "bf16", "f32", 1): "dot_bf16_bf16_f32",
    ("bf16", "bf16", "f32", 3): "dot_bf16_bf16_f32_x3",
    ("bf16", "bf16", "f32", 6): "dot_bf16_bf16_f32_x6",
    ("bf16", "bf16", "f32", 9): "dot_bf16_bf16_f32_x9",
    ("tf32", "tf32", "f32", 1): "dot_tf32_tf32_f32",
    ("tf32", "tf32", "f32", 3): "dot_tf32_tf32_f32_x3",
    ("f32", "f32", "f32", 1): "dot_f32_f32_f32",
    ("f64", "f64", "f64", 1): "dot_f64_f64_f64",
}
_FLOAT8, _FLOAT8_FAST = "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum"

KNOWN_ALGORITHMS = (*_ALGORITHMS.values(), _FLOAT8, _FLOAT8_FAST)
"""XLA's names: dot_LHS_RHS_ACCUMULATION, and xN of N primitive operations."""


def algorithm_name(algorithm: DotAlgorithm) -> str | None:
    """Returns XLA's name of a known algorithm, and None for any other algorithm."""
    lhs, rhs, accumulation = algorithm.lhs_precision_type, algorithm.rhs_precision_type, algorithm.accumulation_type
    operations = algorithm.num_primitive_operations
    if lhs[:2] == rhs[:2] == "f8" and accumulation == "f32" and operations == 1:
        return _FLOAT8_FAST if algorithm.allow_imprecise_accumulation else _FLOAT8
    components = (algorithm.lhs_component_count, algorithm.rhs_component_count)
    if algorithm.allow_imprecise_accumulation or components != (1, 1):
        return None
    return _ALGORITHMS.get((lhs, rhs, accumulation, operations))


def algorithm_of(name: str) -> DotAlgorithm | None:
    """Returns the algorithm with this XLA name. Returns None for an unknown name or one that doesn't fix the types."""
    for (lhs, rhs, accumulation, operations), known in _ALGORITHMS.items():
        if known == name:
            return DotAlgorithm(lhs, rhs, accumulation, 1, 1, operations, False)
    return None


def algorithm_problem(algorithm: DotAlgorithm) -> str | None:
    """Returns what is wrong with an algorithm, or None for a known one."""
    for value, what in (
        (algorithm.lhs_component_count, "lhs component count"),
        (algorithm.rhs_component_count, "rhs component count"),
        (algorithm.num_primitive_operations, "num primitive operations"),
    ):
        if value < 1:
            return f"{what} must be positive"
    if algorithm_name(algorithm):
        return None
    return (
        f"dot algorithm not known to be supported on any hardware: {{lhs:'{algorithm.lhs_precision_type}', "
        f"rhs:'{algorithm.rhs_precision_type}', accum:'{algorithm.accumulation_type}', "
        f"lhs_components:{algorithm.lhs_component_count}, rhs_components:{algorithm.rhs_component_count}, "
        f"primitive_ops:{algorithm.num_primitive_operations}, "
        f"imprecise:{int(algorithm.allow_imprecise_accumulation)}}}"
    )
