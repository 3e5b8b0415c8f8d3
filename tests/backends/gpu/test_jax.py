"""JAX on the GPU backend, through PJRT: every program of `tests.programs` and the training of the digits example."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")
pytest.importorskip("jax", reason="JAX is not installed")

from tests.programs import PROGRAMS
from tests.xla_core.pjrt.jax_process import run_jax

PLATFORMS = "xla_gpu,cpu"

RUN_PROGRAMS = """
import contextlib, importlib, traceback
from tests.programs import PROGRAMS
from tests.programs.sources.registry import SOURCES

for kind in {{program.kind for program in PROGRAMS}}:
    importlib.import_module(f"tests.programs.sources.{{kind}}")
sources = {{source.name: source for source in SOURCES}}
device = jax.devices("xla_gpu")[0]
failed = []
for program in PROGRAMS:
    if program.name not in {names}:
        continue
    source = sources[program.name]
    try:
        with jax.enable_x64(True) if source.x64 else contextlib.nullcontext():
            arguments = jax.device_put(program.inputs(), device)
            results = jax.tree.leaves(jax.jit(source.function, donate_argnums=source.donate)(*arguments))
            assert all(result.devices() == {{device}} for result in results)
            program.check(results)
    except Exception:
        failed.append(program.name)
        traceback.print_exc()
assert not failed, failed
"""


def names_of(kind: str) -> list[str]:
    return [program.name for program in PROGRAMS if program.kind == kind]


SAMPLE = random.Random(11).sample([program.name for program in PROGRAMS], 4)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SAMPLE, id="sample"),
        *(
            pytest.param(names_of(kind), id=kind, marks=pytest.mark.slow)
            for kind in sorted({program.kind for program in PROGRAMS})
        ),
    ],
)
def test_jax_runs_the_programs(names: list[str]) -> None:
    run_jax(RUN_PROGRAMS.format(names=names), platforms=PLATFORMS, timeout=1800)


DIGITS = """
from tests.examples.test_digits_export import DIGITS, load

digits, steps = load("export"), {steps}
with np.load(DIGITS / "data" / "digits.npz") as data:
    images, labels = data["images"], data["labels"]
held_out = np.arange(len(images)) % 5 == 0
state_size = 3 * digits.COUNT + 1

def train(platform, steps):
    '''Returns the loss of each step, and the state after the last one.'''
    random = np.random.default_rng(0)
    device = jax.devices(platform)[0]
    step = jax.jit(digits.train_step, donate_argnums=tuple(range(state_size)))
    order = np.concatenate([random.permutation(np.count_nonzero(~held_out)) for _ in range(2)]).astype(np.int32)
    with jax.default_device(device):
        state = jax.jit(digits.init)(jnp.array([0, 7], jnp.uint32))
        data = jax.device_put((images[~held_out], labels[~held_out]), device)
        losses = []
        for number in range(steps):
            *state, loss = step(*state, *data, order[number * digits.BATCH : (number + 1) * digits.BATCH])
            losses.append(loss)
        assert loss.devices() == {{device}}
        return np.array(losses), state

losses, state = train("xla_gpu", steps)
wanted, _ = train("cpu", 3)
np.testing.assert_allclose(losses[:3], wanted[:steps], rtol=1e-4)
if {accuracy}:
    label, _ = jax.jit(digits.predict)(*state[: digits.COUNT], images[held_out])
    accuracy = np.mean(np.asarray(label) == labels[held_out])
    assert accuracy >= {accuracy}, (accuracy, losses)
"""


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("steps", "accuracy"),
    [
        pytest.param(1, 0, id="one step"),
        pytest.param(44, 0.9, id="two epochs", marks=pytest.mark.slow),
    ],
)
def test_the_digits_example_trains(steps: int, accuracy: float) -> None:
    """The losses of the first steps are those of JAX's CPU."""
    run_jax(DIGITS.format(steps=steps, accuracy=accuracy), platforms=PLATFORMS, timeout=1800)
