"""Writes the suite's programs from tests/programs: `python -m tests.conformance.stored_programs`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.programs import PROGRAMS, Program

DIRECTORY = Path(__file__).resolve().parents[2] / "conformance" / "xla_conformance" / "programs"
NAMES = (
    *("mlp_sgd_step", "adam_step", "convnet_grad", "batch_norm_train_grad", "attention_grad", "layer_norm_grad"),
    *("cross_entropy_grad", "embedding_grad", "dropout_grad", "rnn_scan", "lstm_grad", "while_collatz", "cond_grad"),
    *("switch", "dynamic_slices", "sort_grad", "segments", "bfloat16"),
    *("attention", "grouped_query_attention", "batch_norm_inference", "mixed_precision_step", "mixture_of_experts"),
    *("greedy_decode", "quantized_weights", "dot_types"),
)
FULL = (
    *("convnet", "depthwise_conv_grad", "conv_transpose_and_grouped", "pooling_grad", "rms_and_group_norm"),
    *("momentum_clip_decay_step", "transformer_step", "transformer_scan_layers_grad", "gru_reverse_grad"),
    *("variational_autoencoder_step", "many_steps_in_one_loop", "associative_scan", "scan_forms", "nested_loops"),
    *("scatter_forms", "scatter_integers", "gather_forms", "sorts", "reductions", "cumulatives", "float16", "float8"),
    *("random_bits", "random_integers_and_choices", "complex_numbers", "fourier", "empty_and_scalar", "einsums"),
)
"""Programs that only the full profile runs."""


def without_locations(text: str) -> str:
    """MLIR text without its `loc(...)`s."""
    lines = [line for line in text.splitlines() if not line.startswith("#loc")]
    out = "\n".join(lines) + "\n"
    while (start := out.find(" loc(")) >= 0:
        depth, quoted, end = 0, False, start + 4
        while True:
            char = out[end]
            if char == '"' and out[end - 1] != "\\":
                quoted = not quoted
            elif not quoted:
                depth += (char == "(") - (char == ")")
            end += 1
            if not depth:
                break
        out = out[:start] + out[end:]
    return out


def manifest_entry(program: Program) -> dict[str, object]:
    ranges = [[list(a.shape), a.dtype, a.low, a.high] for a in program.arguments]
    profile = "full" if program.name in FULL else "quick"
    return {"arguments": ranges, "rtol": program.rtol, "atol": program.atol, "profile": profile}


def main() -> None:
    chosen = {p.name: p for p in PROGRAMS if p.name in (*NAMES, *FULL)}
    for name in (*NAMES, *FULL):
        (DIRECTORY / f"{name}.mlir").write_text(without_locations(chosen[name].text))
    entries = ",\n".join(f" {json.dumps(n)}: {json.dumps(manifest_entry(chosen[n]))}" for n in (*NAMES, *FULL))
    (DIRECTORY / "manifest.json").write_text(f"{{\n{entries}\n}}\n")


if __name__ == "__main__":
    main()
