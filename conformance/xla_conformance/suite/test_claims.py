"""The target's claims: a program that is not claimed is refused or computed rightly, and the host may run parts."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest

from xla_conformance.bits import require_bits
from xla_conformance.claims import held_types, not_supported
from xla_conformance.family_program import FamilyProgram
from xla_conformance.offers import compile_unclaimed, offer
from xla_conformance.ops import OpCase, generate
from xla_conformance.ops.comparison import check
from xla_conformance.placements import require_placement
from xla_conformance.programs.family import WRITTEN
from xla_conformance.refusals import Refuse, refusing
from xla_conformance.subjects import claims
from xla_core import Client, CompileOptions, UnimplementedError
from xla_core.backend import CompileOptions as ContractCompileOptions
from xla_core.hlo import OPS, ElementType, HloInstruction, HloModule, Opcode, Trait
from xla_core.passes import STAGES
from xla_core.target import TargetConfig, Unsupported

USUAL = (ElementType.F32, ElementType.S32, ElementType.U32, ElementType.PRED, ElementType.C64)
NOT_ALONE = {
    Trait.ASYNC,
    Trait.COLLECTIVE,
    Trait.CONTROL_FLOW,
    Trait.HOST_TRANSFER,
    Trait.NONDETERMINISTIC,
    Trait.NOP,
    Trait.PER_DEVICE,
}
"""Traits of ops that the core runs itself, or that other groups test."""

GIVEN = {Opcode.PARAMETER, Opcode.CONSTANT, Opcode.TUPLE, Opcode.GET_TUPLE_ELEMENT, Opcode.COPY, Opcode.FUSION}
"""Ops that every program has. A device without them runs none."""
CANDIDATES = 6
PARTS = 4


@functools.cache
def cases(opcode: Opcode, seed: int) -> list[OpCase]:
    """Small cases of an op, in the types that are most usual for it: the host may run them."""
    every = list(generate(seed=seed, opcodes=[opcode]))
    found: list[OpCase] = []
    for t in [t for t in USUAL if any(c.element_type is t for c in every)] or [c.element_type for c in every[:1]]:
        if len(found) < 2 * CANDIDATES:
            found += sorted((c for c in every if c.element_type is t), key=_work)
    return [c for c in found[: 2 * CANDIDATES] if not c.has_denormal_products][:CANDIDATES]


def _work(case: OpCase) -> int:
    """A sort key: the number of elements of a case's parameters and results. Cases without elements come last."""
    module = case.module()
    shapes = [*module.parameter_shapes, *module.result_shape.leaves()]
    counts = [leaf.num_elements for shape in shapes for leaf in shape.array_leaves()]
    return sum(counts) if counts and all(counts) else 1 << 62


@functools.cache
def cases_of_every_type(seed: int) -> list[OpCase]:
    """The first case of each op in each element type."""
    found: dict[tuple[Opcode, ElementType], OpCase] = {}
    for case in generate(seed=seed):
        if (case.opcode, case.element_type) not in found and not case.has_denormal_products:
            found[case.opcode, case.element_type] = case
    return list(found.values())


def case_of(opcode: Opcode, backend: str, seed: int) -> OpCase:
    """A case of an op in types that the device holds."""
    for case in cases(opcode, seed):
        if _held(backend, case.module()):
            return case
    return not_supported(f"the device holds no type of a case of {opcode}")


def compare(sentence: str, case: OpCase, results: list[np.ndarray]) -> None:
    check(sentence, results, case.expected(), module=case.module(), arguments=case.arguments(), operands=case.operands)


# -- a compiler that refuses an op -----------------------------------------------------------------------------------


@pytest.mark.promise("compiler.host-fallback", "compiler.supported-after-passes", "compiler.target-is-data")
@pytest.mark.parametrize(
    "opcode",
    [o for o, op in OPS.items() if o not in GIVEN and op.traits.isdisjoint(NOT_ALONE)],
)
def test_each_op_refused_once(backend: str, refuse: Refuse, opcode: Opcode, seed: int) -> None:
    """The core decomposes a refused op, or the host runs it where that is offered, or the error is UNIMPLEMENTED."""
    if not cases(opcode, seed):
        not_supported(f"the suite has no case of {opcode} on one device")
    case = case_of(opcode, backend, seed)
    client = refuse(opcode)
    offered = client.platform.compiler.host_fallback
    options = CompileOptions(fallback="host" if offered else "none")
    try:
        executable = compile_unclaimed(client, case.module(), options)
    except UnimplementedError:
        if offered and refuse().platform.compiler.target_config.supports(_main(case.module(), opcode)):
            raise
        return
    compare(
        f"Without {opcode}, the device and the host together give the results of the program.",
        case,
        [np.asarray(r) for r in executable(*case.arguments())],
    )


@pytest.mark.promise("compiler.host-fallback", "compiler.run-backend", "compiler.thread-safe")
def test_a_compilation_leaves_the_next_one_alone(backend: str, open_client: Callable[[], Client], seed: int) -> None:
    """An op that only the host can run is refused again, after a compilation in which the host ran it."""
    with refusing(open_client) as refuse:
        client = refuse()
        if not client.platform.compiler.host_fallback:
            not_supported("its compiler offers no fallback to the host")
        for opcode in OPS:
            if opcode in GIVEN or not OPS[opcode].traits.isdisjoint(NOT_ALONE) or not cases(opcode, seed):
                continue
            refuse(opcode)
            module = case_of(opcode, backend, seed).module()
            try:
                compile_unclaimed(client, module, CompileOptions(fallback="none"))
            except UnimplementedError:
                compile_unclaimed(client, module, CompileOptions(fallback="host"))
                with pytest.raises(UnimplementedError):
                    compile_unclaimed(client, module, CompileOptions(fallback="none"))
                return
        not_supported("the core decomposes every op that it claims")


def _main(module: HloModule, opcode: Opcode) -> HloInstruction:
    return next(i for c in module.computations for i in c.instructions if i.opcode == opcode)


def _ops_of(program: FamilyProgram) -> list[Opcode]:
    """The opcodes that the host could run in place of the device, without those of collectives and control flow."""
    found = {i.opcode for c in program.module.computations for i in c.instructions}
    return sorted(o for o in found if o not in GIVEN and OPS[o].traits.isdisjoint(NOT_ALONE))


@pytest.mark.promise("compiler.host-fallback", "executable.placement")
@pytest.mark.parametrize("part", ["all", "half", "other half", "add", "compare"])
@pytest.mark.parametrize("program", [p for p in WRITTEN if _ops_of(p)], ids=str)
def test_programs_that_run_in_part_on_the_host(
    refuse: Refuse, program: FamilyProgram, part: str, seed: int, random: np.random.Generator
) -> None:
    """All or half of the program's ops are refused, because the core can decompose a single refused op into others."""
    ops = _ops_of(program)
    half = set(np.random.default_rng(seed).permutation(ops)[: len(ops) // 2].tolist())
    parts = {"all": ops, "half": half, "other half": set(ops) - half, "add": {Opcode.ADD}, "compare": {Opcode.COMPARE}}
    client = refuse(*parts[part])
    if not client.platform.compiler.host_fallback:
        not_supported("its compiler offers no fallback to the host")
    for index in sorted({0, len(client.devices) - 1}):
        options = CompileOptions(fallback="host", device_assignment=((index,),))
        executable = compile_unclaimed(client, program.module, options)
        require_placement(executable.executable, client.platform.compiler.target_config)
        for _ in range(2):
            values = program.arguments(random)
            buffers = [client.buffer_from_host(v, index) for v in values]
            results = executable.execute(buffers, non_donatable=range(len(buffers)))
            program.require_results(
                f"Without {part} of its ops, the device and the host together give the results of the program.",
                results,
                values,
                "compiler.host-fallback",
            )
            require_bits(
                "What runs on the host writes to no argument.",
                [np.asarray(b) for b in buffers],
                values,
                module=program.text,
                promise="executable.arguments-kept",
            )


# -- what is not claimed ----------------------------------------------------------------------------------------------


@pytest.mark.promise("compiler.run-backend", "compiler.supported-after-passes", "compiler.target-is-data")
@pytest.mark.parametrize("part", range(PARTS))
def test_what_is_not_claimed_is_refused_or_right(
    backend: str, second_client: Client, target: TargetConfig, seed: int, part: int
) -> None:
    """Each op in each element type."""
    offered = 0
    for case in cases_of_every_type(seed)[part::PARTS]:
        module = case.module()
        if claims(target, module):
            continue
        offered += 1
        executable = offer(second_client, module)
        if executable is not None and _held(backend, module):
            compare(
                f"{case.name} isn't claimed, so run_backend refuses it, or it is right.",
                case,
                [np.asarray(r) for r in executable(*case.arguments())],
            )
    if not offered:
        not_supported("it claims every op of the cases, so there is nothing to refuse")


def _held(backend: str, module: HloModule) -> bool:
    shapes = [i.shape for c in module.computations for i in c.instructions]
    held = held_types(backend)
    return all(leaf.element_type in held for s in shapes for leaf in s.array_leaves())


# -- what is claimed --------------------------------------------------------------------------------------------------


@pytest.mark.promise("compiler.target-is-data")
def test_supports_agrees_with_what_is_declared(target: TargetConfig, seed: int) -> None:
    """`supports` is asked by every pass, so it gives the same answer each time, with a reason where it is no."""
    capabilities = target.capabilities
    instructions = {
        i for opcode in OPS for case in cases(opcode, seed) for c in case.module().computations for i in c.instructions
    }
    for instruction in instructions:
        answer = target.supports(instruction)
        assert bool(target.supports(instruction)) == bool(answer), "supports() gives the same answer each time."
        if isinstance(answer, Unsupported):
            assert answer.reason, "supports() says why an instruction isn't supported."
        assert bool(capabilities.check(instruction)) == bool(answer), (
            f"supports() agrees with the declared capabilities: it says {answer} of {instruction.opcode}."
        )
        types = capabilities.ops.get(instruction.opcode, frozenset())
        claimed = all(leaf.element_type in types for leaf in instruction.shape.leaves())
        plain = instruction.opcode not in capabilities.constraints and "*" not in capabilities.constraints
        if Trait.ELEMENTWISE in instruction.op.traits and claimed and plain and _one_type(instruction):
            assert answer, f"The target declares {instruction.opcode} of this type, so supports() agrees: {answer}"


def _one_type(instruction: HloInstruction) -> bool:
    shapes = (instruction.shape, *(o.shape for o in instruction.operands))
    return len({s.element_type for s in shapes}) == 1 and not instruction.called_computations


@pytest.mark.promise("compiler.stages-exist")
def test_replaced_stages_exist(client: Client) -> None:
    names = set(client.platform.compiler.hlo_stages(ContractCompileOptions()))
    assert names <= set(STAGES), (
        f"hlo_stages replaces stages of the core's pipeline: there is no {names - set(STAGES)}."
    )
