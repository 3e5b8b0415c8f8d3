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
)


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
    return {"arguments": ranges, "rtol": program.rtol, "atol": program.atol}


def main() -> None:
    chosen = {p.name: p for p in PROGRAMS if p.name in NAMES}
    for name in NAMES:
        (DIRECTORY / f"{name}.mlir").write_text(without_locations(chosen[name].text))
    entries = ",\n".join(f" {json.dumps(n)}: {json.dumps(manifest_entry(chosen[n]))}" for n in NAMES)
    (DIRECTORY / "manifest.json").write_text(f"{{\n{entries}\n}}\n")


if __name__ == "__main__":
    main()
