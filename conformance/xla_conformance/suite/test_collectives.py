"""Programs that communicate between devices: collectives in each form, and failures of one device."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.chosen import may_be_chosen
from xla_conformance.claims import require_devices
from xla_conformance.collective_cases import CollectiveCase, collective_cases
from xla_conformance.device.gates import pause
from xla_core import Buffer, Client, CompileOptions, XlaError
from xla_core.hlo import OPS, HloModule, Opcode, Trait, evaluate_replicas, parse_hlo

HEAD = """\
HloModule meet, replica_count=2

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

"""
PROGRAMS = {
    "all-reduce": """ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT r = f32[2,3] all-reduce(x), replica_groups={{0,1}}, to_apply=add
}""",
    "all-gather": """ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT r = f32[4,3] all-gather(x), replica_groups={{0,1}}, dimensions={0}
}""",
    "reduce-scatter": """ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT r = f32[1,3] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add
}""",
    "all-to-all": """ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT r = f32[2,3] all-to-all(x), replica_groups={{0,1}}, dimensions={0}
}""",
    "collective-permute": """ENTRY e {
  x = f32[2,3] parameter(0)
  ROOT r = f32[2,3] collective-permute(x), source_target_pairs={{0,1},{1,0}}
}""",
    "one after the other": """ENTRY e {
  x = f32[2,3] parameter(0)
  id = u32[] replica-id()
  number = f32[] convert(id)
  all = f32[2,3] broadcast(number), dimensions={}
  mine = f32[2,3] add(x, all)
  sum = f32[2,3] all-reduce(mine), replica_groups={{0,1}}, to_apply=add
  twice = f32[2,3] multiply(sum, mine)
  ROOT r = f32[2,3] all-reduce(twice), replica_groups={{0,1}}, to_apply=add
}""",
    "in a loop": """body {
  s = (s32[], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[2,3] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  sum = f32[2,3] all-reduce(x), replica_groups={{0,1}}, to_apply=add
  ROOT r = (s32[], f32[2,3]) tuple(next, sum)
}

cond {
  s = (s32[], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT
}

ENTRY e {
  x = f32[2,3] parameter(0)
  zero = s32[] constant(0)
  init = (s32[], f32[2,3]) tuple(zero, x)
  loop = (s32[], f32[2,3]) while(init), condition=cond, body=body
  ROOT r = f32[2,3] get-tuple-element(loop), index=1
}""",
    "side by side, with attributes that differ": """largest {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b)
}

least {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] minimum(a, b)
}

ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[2,3] negate(x)
  a = f32[2,3] all-reduce(x), replica_groups={{0,1}}, to_apply=add
  b = f32[2,3] all-reduce(x), replica_groups={{0,1}}, to_apply=largest
  c = f32[2,3] all-reduce(y), replica_groups={{0,1}}, to_apply=least
  d = f32[2,3] all-reduce(y), replica_groups={{0,1}}, to_apply=add
  e = f32[2,3] all-reduce(x), replica_groups={{0},{1}}, to_apply=add
  f = f32[4,3] all-gather(x), replica_groups={{0,1}}, dimensions={0}
  g = f32[2,6] all-gather(x), replica_groups={{0,1}}, dimensions={1}
  h = f32[4,3] all-gather(x), replica_groups={{1,0}}, dimensions={0}
  i = f32[4,3] all-gather(y), replica_groups={{0,1}}, dimensions={0}
  j = f32[1,3] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=add
  k = f32[1,3] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, to_apply=largest
  l = f32[1,3] reduce-scatter(y), replica_groups={{1,0}}, dimensions={0}, to_apply=add
  m = f32[2,3] collective-permute(x), source_target_pairs={{0,1},{1,0}}
  n = f32[2,3] collective-permute(x), source_target_pairs={{0,1}}
  o = f32[2,3] collective-permute(y), source_target_pairs={{1,0}}
  p = f32[2,3] all-to-all(x), replica_groups={{0,1}}, dimensions={0}
  q = f32[2,3] all-to-all(y), replica_groups={{0},{1}}, dimensions={0}
  s = (f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3]) tuple(a, b, c, d, e)
  t = (f32[4,3], f32[2,6], f32[4,3], f32[4,3], f32[1,3], f32[1,3], f32[1,3]) tuple(f, g, h, i, j, k, l)
  u = (f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3]) tuple(m, n, o, p, q)
  ROOT r = (
    (f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3]),
    (f32[4,3], f32[2,6], f32[4,3], f32[4,3], f32[1,3], f32[1,3], f32[1,3]),
    (f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3])
  ) tuple(s, t, u)
}""",
}
ROWS = [[np.arange(6, dtype=np.float32).reshape(2, 3)], [np.full((2, 3), 10, np.float32)]]


def _names() -> str:
    return " ".join(map(str, collective_cases(2))).lower()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    if metafunc.function is not test_collective:
        return
    chosen = config.getoption("keyword"), config.getoption("xla_test")
    made = may_be_chosen("test_collectives.py::test_collective", "", *chosen, words=_names)
    cases = [pytest.param(case, id=str(case)) for case in (collective_cases(2) if made else ())]
    if made and config.getoption("xla_profile") != "quick":
        cases += [pytest.param(case, id=f"4-{case}") for case in collective_cases(4)]
    metafunc.parametrize("case", cases)


@pytest.mark.promise(
    "communicator.in-order", "executor.create-communicator", "executable.many-devices", "stream.host-callbacks-meet"
)
def test_collective(client: Client, case: CollectiveCase, random: np.random.Generator) -> None:
    require_devices(client, case.devices)
    program = case.program()
    executable = client.compile(program.text)
    runs = []
    for _ in range(2):  # runs follow each other without waiting
        rows = case.rows(random)
        runs.append((rows, executable.execute_sharded(rows)))
    for rows, results in runs:
        for device, (got, wanted) in enumerate(zip(results, program.result_rows(rows), strict=True)):
            require_bits(
                f"The devices of a group get the results of the collective; device {device} doesn't.",
                [np.asarray(r) for r in got],
                wanted,
                module=program.text,
                arguments=rows[device],
                promise="communicator.in-order",
            )


@pytest.mark.promise("communicator.in-order", "executable.many-devices", "platform.ordinals")
@pytest.mark.parametrize("swapped", [False, True], ids=["in order", "swapped"])
@pytest.mark.parametrize(("replicas", "partitions"), [(2, 1), (1, 2)])
def test_ids_are_places_in_the_assignment(client: Client, replicas: int, partitions: int, swapped: bool) -> None:
    require_devices(client, 2)
    text = (
        f"HloModule m, replica_count={replicas}, num_partitions={partitions}\n\nENTRY e {{\n  r = u32[] replica-id()\n"
        "  p = u32[] partition-id()\n  ROOT t = (u32[], u32[]) tuple(r, p)\n}\n"
    )
    ids = [1, 0] if swapped else [0, 1]
    assignment = tuple((i,) for i in ids) if replicas == 2 else (tuple(ids),)
    executable = client.compile(text, CompileOptions(device_assignment=assignment))
    places = [(r, p) for r in range(replicas) for p in range(partitions)]
    got = [tuple(int(np.asarray(r)) for r in row) for row in executable.execute_sharded([[], []])]
    assert got == places, f"A device has the replica and partition of its place in the assignment, not {got}."


def _require_row(results: Sequence[Buffer], expected: Sequence[np.ndarray], text: str) -> None:
    """Raises Failure unless a device has the expected results of a program."""
    sentence = "Each device gets the results of the program's collectives."
    require_bits(sentence, [np.asarray(r) for r in results], expected, promise="communicator.in-order", module=text)


@pytest.mark.promise("communicator.in-order", "executor.create-communicator", "stream.host-callbacks-meet")
@pytest.mark.parametrize("name", PROGRAMS)
def test_devices_meet(client: Client, name: str) -> None:
    require_devices(client, 2)
    text = HEAD + PROGRAMS[name]
    executable = client.compile(text)
    expected = evaluate_replicas(parse_hlo(text), ROWS)
    for _ in range(3):  # runs follow each other without waiting
        results = executable.execute_sharded(ROWS)
    for row, wanted in zip(results, expected, strict=True):
        _require_row(row, wanted, text)


@pytest.mark.promise("communicator.in-order", "compiler.run-backend")
def test_two_that_differ_in_one_attribute(client: Client) -> None:
    """A pass that combines collectives has to look at each attribute. Each program has two of them alone."""
    require_devices(client, 2)
    for module in _pairs(parse_hlo(HEAD + PROGRAMS["side by side, with attributes that differ"])):
        expected = evaluate_replicas(module, ROWS)
        for row, wanted in zip(client.compile(module).execute_sharded(ROWS), expected, strict=True):
            _require_row(row, wanted, str(module))


def _pairs(module: HloModule) -> Iterator[HloModule]:
    """Yields programs whose results are two of the collectives of one op."""
    count = module.entry.instruction_count
    for one, other in itertools.combinations(range(count), 2):
        pair = module.clone()
        entry = pair.entry
        first, second = entry.instructions[one], entry.instructions[other]
        if first.opcode is second.opcode and Trait.COLLECTIVE in OPS[first.opcode].traits:
            entry.set_root(entry.add(Opcode.TUPLE, first, second))
            for instruction in reversed(entry.post_order()):  # passes keep collectives that nobody uses
                if not (instruction.user_count or instruction.is_root or instruction.opcode is Opcode.PARAMETER):
                    entry.remove(instruction)
            yield pair


@pytest.mark.promise("communicator.in-order", "communicator.failure-poisons")
@pytest.mark.parametrize("late", [0, 1])
def test_a_device_that_comes_late_is_waited_for(client: Client, late: int) -> None:
    """The timeout is a minute: half a second is no failure."""
    require_devices(client, 2)
    text = HEAD + PROGRAMS["all-reduce"]
    executable = client.compile(text)
    (x,), (y,) = ROWS
    client.devices[late].compute_stream.host_callback(pause(0.5))
    for row in executable.execute_sharded(ROWS):
        _require_row(row, [x + y], text)


@pytest.mark.promise("communicator.end-releases", "communicator.failure-poisons")
def test_the_failure_of_a_device_reaches_the_others(client: Client) -> None:
    require_devices(client, 2)
    text = HEAD + PROGRAMS["all-reduce"]
    executable = client.compile(text)
    (x,), (y,) = ROWS
    broken = client.error_buffer(XlaError("broken input"), executable.parameter_shapes[0], 1)
    results = executable.execute_sharded([[client.buffer_from_host(x, 0)], [broken]])
    for (result,) in results:
        with pytest.raises(XlaError, match="broken input"):
            result.block_until_ready()
    fine = executable.execute_sharded([[x], [y]])
    _require_row(fine[0], [x + y], text)


@pytest.mark.promise("platform.ordinals", "executable.many-devices")
def test_an_assignment_chooses_the_devices(client: Client) -> None:
    require_devices(client, 2)
    text = HEAD + PROGRAMS["one after the other"]
    swapped = client.compile(text, CompileOptions(device_assignment=((1,), (0,))))
    assert [device.id for device in swapped.devices] == [1, 0]
    expected = evaluate_replicas(parse_hlo(text), ROWS)
    for row, wanted in zip(swapped.execute_sharded(ROWS), expected, strict=True):
        _require_row(row, wanted, text)
