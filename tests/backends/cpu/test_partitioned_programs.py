"""HLO text of JAX's programs after XLA's partitioner: every device computes what JAX's device computes."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import xla_core as xla
from xla_core.hlo import evaluate_replicas

JAX = """
import json
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("a", "b"))
functions = dict(sum=jnp.sum, softmax=jax.nn.softmax, cumsum=lambda x: jnp.cumsum(x, 0), sort=lambda x: jnp.sort(x, 0),
                 products=lambda x: jnp.tanh(x @ x.T) @ x)
x = np.sin(np.arange(64, dtype=np.float32) * 7).reshape(8, 8)
out = {}
for split in (P("a", "b"), P("b", "a"), P("a"), P(("a", "b"))):
    sharding = NamedSharding(mesh, split)
    for name, function in functions.items():
        compiled = jax.jit(function, in_shardings=sharding).lower(x).compile()
        taken, = compiled.input_shardings[0]
        parts = taken.devices_indices_map(x.shape)
        result = {shard.device: shard.data for shard in compiled(jax.device_put(x, taken)).addressable_shards}
        out[f"{name} {split}"] = dict(
            text=compiled.as_text(),
            arguments=[x[parts[device]].tolist() for device in jax.devices()],
            results=[np.asarray(result[device]).tolist() for device in jax.devices()])
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def programs() -> dict[str, Any]:
    pytest.importorskip("jax")
    environment = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu", "PATH": "/usr/bin"}
    done = subprocess.run([sys.executable, "-c", JAX], env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_partitioned_programs_compute_what_jax_does(programs: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    with xla.Client("cpu") as client:
        for name, program in programs.items():
            arguments = [[np.array(a, np.float32)] for a in program["arguments"]]
            module = xla.parse(program["text"], file=name)
            for rows in (
                evaluate_replicas(module, arguments, timeout=30),
                client.compile(module).execute_sharded(arguments),
            ):
                for (got,), want in zip(rows, program["results"], strict=True):
                    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-5, atol=1e-6, err_msg=name)
