"""GpuProgram: a program as data that can be stored."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("xla_backend_gpu", reason="xla-backend-gpu is not installed")

from xla_backend_gpu.compiler import GpuCompiler
from xla_backend_gpu.emulator import EmulatorFault, FaultKind
from xla_backend_gpu.program import GpuProgram
from xla_backend_gpu.ptxas import assemble, find_ptxas

import xla_core as xla
from xla_core.errors import InternalError

PROGRAM = """HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}

ENTRY main {
  x = f32[9,3000] parameter(0)
  s = f32[9,3000] sort(x), dimensions={1}, to_apply=less
  ROOT z = f32[9,3000] exponential(s)
}
"""


@pytest.fixture(scope="module")
def executable():
    return GpuCompiler().compile(xla.parse(PROGRAM))


def test_what_is_stored_is_restored(executable) -> None:
    data = executable.serialize()
    again = GpuCompiler().deserialize(data)
    assert again.serialize() == data
    assert again.artifacts()["ptx"] == executable.artifacts()["ptx"]
    assert again.artifacts()["thunks"] == executable.artifacts()["thunks"]
    assert again.memory_stats() == executable.memory_stats()


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas was not found: install nvidia-cuda-nvcc")
def test_machine_code_is_stored_beside_ptx(executable) -> None:
    program = GpuProgram.from_bytes(executable.serialize())
    try:
        code, _ = assemble(program.ptx, "sm_90")
    except InternalError as error:
        assert not program.cubin
        pytest.skip(f"this ptxas refuses the PTX: {error.message}")
    assert program.cubin == code
    assert program.cubin.startswith(b"\x7fELF")
    assert int.from_bytes(program.cubin[18:20], "little") == 190, "ELF's number of CUDA"


def test_code_that_ptxas_refuses_is_given_to_it_once(monkeypatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("xla_backend_gpu.executable.machine_code", lambda ptx, processor: asked.append(ptx) or b"")
    executable = GpuCompiler().compile(xla.parse(FUSED))
    assert executable.serialize() == executable.serialize()
    assert len(asked) == 1


def test_a_machine_without_ptxas_stores_ptx_alone(monkeypatch) -> None:
    monkeypatch.setattr("xla_backend_gpu.ptxas.find_ptxas", lambda: None)
    assert not GpuProgram.from_bytes(GpuCompiler().compile(xla.parse(FUSED)).serialize()).cubin


def test_scratch_memory_is_part_of_the_temporaries(executable) -> None:
    """Tiles of a row are sorted, and then merged in scratch memory."""
    (phases,) = [v for k, v in json.loads(executable.serialize())["launches"].items() if k.startswith("s ")]
    assert len(phases) > 1
    assert all(phase["scratch_bytes"] >= 9 * 3000 * 4 for phase in phases)
    assert executable.memory_stats().temp_bytes >= phases[0]["scratch_bytes"]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("ptx", 3, "ptx"),
        ("cubin", "?", "cubin"),
        ("processor", "sm_1", "sm_1"),
        ("engine", "slow", "engine"),
        ("hlo", "HloModule m\n\nENTRY {", "expected"),
        ("launches", {"s in main": [{"kernel": "s", "blocks": 0, "threads": 1}]}, "blocks"),
        ("launches", {"no in main": [{"kernel": "s", "blocks": 1, "threads": 1}]}, "no in main"),
        ("launches", {"s in main": [{"kernel": "s;", "blocks": 1, "threads": 1}]}, "kernel"),
        ("more", 1, "more"),
    ],
)
def test_a_damaged_program_is_refused(executable, field: str, value: object, says: str) -> None:
    fields = json.loads(executable.serialize())
    fields[field] = value
    data = json.dumps(fields).encode()
    with pytest.raises(xla.InvalidArgumentError, match=says):
        GpuCompiler().deserialize(data)


@pytest.mark.parametrize("engine", ["fast", "checked"])
def test_a_fault_names_the_instruction_and_its_place(executable, lost_client, engine: str) -> None:
    fields = json.loads(executable.serialize())
    (launch,) = fields["launches"]["z in main"]
    entry = fields["ptx"].index(f".entry {launch['kernel']}(")
    end = fields["ptx"].index("ret;", entry)
    fields |= {"ptx": f"{fields['ptx'][:end]}trap;\n{fields['ptx'][end:]}", "engine": engine}
    fields["hlo"] = fields["hlo"].replace(
        "exponential(%s)", 'exponential(%s), metadata={op_name="exp" source_file="model.py" source_line=12}'
    )
    faulty = lost_client.load(GpuCompiler().deserialize(json.dumps(fields).encode()))
    with pytest.raises(EmulatorFault, match=r"model\.py:12.*which computes `%z = f32.* exponential") as caught:
        np.asarray(faulty(np.zeros((9, 3000), np.float32))[0])
    assert caught.value.kind is FaultKind.TRAP
    assert caught.value.kernel == launch["kernel"]


FUSED = """HloModule m

ENTRY main {
  x = f32[64] parameter(0)
  i = s32[8,1] parameter(1)
  s = f32[64] sine(x)
  q = f32[64] sqrt(x), metadata={op_name="root" source_file="model.py" source_line=7}
  z = f32[64] add(s, q)
  ROOT g = f32[8] gather(z, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1,
    slice_sizes={1}
}
"""


@pytest.mark.parametrize("engine", ["fast", "checked"])
def test_a_fault_names_the_instruction_in_a_fusion(lost_client, engine: str) -> None:
    compiled = GpuCompiler().compile(xla.parse(FUSED))
    fields = json.loads(compiled.serialize())
    at = fields["ptx"].index("sqrt.rn.f32")
    fields |= {"ptx": f"{fields['ptx'][:at]}trap;\n{fields['ptx'][at:]}", "engine": engine}
    faulty = lost_client.load(GpuCompiler().deserialize(json.dumps(fields).encode()))
    with pytest.raises(xla.XlaError, match=r"model\.py:7.*which computes `%q.* sqrt.*` in `gather_fusion`"):
        np.asarray(faulty(np.ones(64, np.float32), np.zeros((8, 1), np.int32))[0])


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"null"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(xla.InvalidArgumentError, match="the serialized GPU program is damaged"):
        GpuProgram.from_bytes(data)
