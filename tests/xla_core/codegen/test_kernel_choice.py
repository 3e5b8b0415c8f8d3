"""The plan that an instruction asks for in its backend_config."""

from __future__ import annotations

import json

import pytest

from xla_core.codegen.kernel_choice import KernelChoice
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import HloInstruction, parse_hlo
from xla_core.target import ParallelModel

MODEL = ParallelModel(threads=256, lanes=32, registers=32, vector_bytes=16, shared_bytes=1024)


def instruction(config: str = "") -> HloInstruction:
    suffix = f", backend_config={config}" if config else ""
    return parse_hlo(
        f"HloModule m\n\nENTRY e {{\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x){suffix}\n}}\n"
    ).entry.root


def test_a_choice_is_recorded_in_text_and_read_back() -> None:
    plain = instruction('{"other":1}')
    KernelChoice(form="thread elements", threads=64).record(plain)
    module = plain.parent.module
    again = parse_hlo(module.to_text()).entry.root
    assert KernelChoice.of(again) == KernelChoice(form="thread elements", threads=64)
    assert json.loads(again.attribute("backend_config"))["other"] == 1
    KernelChoice().record(again)
    assert again.attribute("backend_config") == '{"other":1}'
    assert KernelChoice.of(again) == KernelChoice()


def test_only_what_is_chosen_replaces_the_model() -> None:
    found = KernelChoice(threads=64, registers=128).applied(MODEL, instruction())
    assert found == MODEL.model_copy(update={"threads": 64, "registers": 128})
    assert KernelChoice().applied(MODEL, instruction()) is MODEL


def test_a_choice_of_shared_memory_is_of_all_that_a_launch_may_ask_for() -> None:
    model = MODEL.model_copy(update={"launch_shared_bytes": 4096})
    assert (model.most_shared_bytes, MODEL.most_shared_bytes) == (4096, 1024)
    for chosen, declared, asked in [(4096, 1024, 4096), (2048, 1024, 2048), (1024, 1024, 1024), (512, 512, 512)]:
        found = KernelChoice(shared_bytes=chosen).applied(model, instruction())
        assert (found.shared_bytes, found.launch_shared_bytes) == (declared, asked)
    assert KernelChoice(shared_bytes=512).applied(MODEL, instruction()).most_shared_bytes == 512
    with pytest.raises(InvalidArgumentError, match="shared_bytes=4097, but the target has 4096"):
        KernelChoice(shared_bytes=4097).applied(model, instruction())


@pytest.mark.parametrize("config", ['"text of another compiler"', '{"fusion_backend_config":{"kind":"__triton"}}', ""])
def test_other_configurations_are_no_choice(config: str) -> None:
    assert KernelChoice.of(instruction(config)) == KernelChoice()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ('{"kernel_plan":3}', "kernel_plan is 3, not a dictionary"),
        ('{"kernel_plan":{"treads":64}}', "no field 'treads'"),
        ('{"kernel_plan":{"threads":"many"}}', "threads"),
        ('{"kernel_plan":{"units":0}}', "units"),
    ],
)
def test_a_wrong_choice_names_the_instruction(choice: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        KernelChoice.of(instruction(choice))
    assert caught.value.message.startswith("y: ")
    assert caught.value.location is not None


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (KernelChoice(threads=512), "threads=512, but the target has 256"),
        (KernelChoice(vector_bytes=32), "vector_bytes=32, but the target has 16"),
        (KernelChoice(shared_bytes=4096), "shared_bytes=4096, but the target has 1024"),
        (KernelChoice(threads=48), "no multiple of the 32 lanes"),
    ],
)
def test_a_choice_stays_within_the_target(choice: KernelChoice, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        choice.applied(MODEL, instruction())
