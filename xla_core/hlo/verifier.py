"""The HLO verifier: the invariants of every module. (XLA: xla/service/hlo_verifier.h.)"""

from __future__ import annotations

from collections.abc import Sequence

from xla_core.errors import InvalidArgumentError, XlaError
from xla_core.hlo.ir.attribute_kinds import is_of_kind
from xla_core.hlo.ir.computation import HloComputation
from xla_core.hlo.ir.instruction import HloInstruction
from xla_core.hlo.ir.module import HloModule, require_module
from xla_core.hlo.ops.collective_groups import DEVICE_COUNTS, DeviceCounts
from xla_core.hlo.table.op_table import OpDef, Trait, lookup
from xla_core.hlo.table.opcode import Opcode


def verify(module: HloModule) -> None:
    """Verifies a module.

    Raises:
        InvalidArgumentError: for the first violation. It says what is wrong, in which instruction and at which source
            line.
    """
    require_module(module)
    for computation in module.computations:
        verify_computation(computation)
    verify_structure(module)


def verify_structure(module: HloModule) -> None:
    """Verifies what concerns the module as a whole: names, calls, aliases, number of devices and schedule."""
    computations = module.computations
    if module.entry not in computations:
        raise InvalidArgumentError(f"the entry of {module.name} is not one of its computations")
    names: set[str] = set()
    for computation in computations:
        if computation.module is not module:
            raise InvalidArgumentError(f"computation {computation.name} has another module as its parent")
        if computation.name in names:
            raise InvalidArgumentError(f"two computations are named {computation.name}")
        names.add(computation.name)
    members = set(computations)
    instruction_names: set[str] = set()
    for computation in computations:
        for instruction in computation.instructions:
            if instruction.name in instruction_names:
                raise _error(instruction, "its name is taken by another instruction")
            instruction_names.add(instruction.name)
            for callee in instruction.called_computations if instruction.op.calls else ():
                if callee not in members:
                    raise _error(instruction, f"it calls {callee.name}, which is not in the module")
                if callee is module.entry:
                    raise _error(instruction, "it calls the entry computation")
    module.post_order()  # raises for recursion
    if module.num_replicas < 1 or module.num_partitions < 1:
        raise InvalidArgumentError(
            f"{module.name} is for {module.num_replicas} replicas and {module.num_partitions} partitions"
        )
    _verify_aliases(module)
    _verify_schedule(module)


def verify_computation(computation: HloComputation) -> None:
    """Verifies a computation's instructions, parameters and root, but not its place in the module."""
    instructions = computation.instructions
    if not instructions:
        raise InvalidArgumentError(f"computation {computation.name} is empty")
    members = set(instructions)
    operands_of = {instruction: set(instruction.operands) for instruction in instructions}
    if computation.root not in members:
        raise InvalidArgumentError(f"the root of {computation.name} is not in it")
    _verify_parameters(computation, instructions)
    for instruction in instructions:
        if instruction.parent is not computation:
            raise _error(instruction, f"it does not know that it is in computation {computation.name}")
        for operand in instruction.operands:
            if operand not in members:
                raise _error(instruction, f"its operand {operand.name} is not in computation {computation.name}")
            if instruction not in operand._users:
                raise _error(instruction, f"its operand {operand.name} does not have it as a user")
        for user in instruction.users:
            if user not in members or instruction not in operands_of[user]:
                raise _error(instruction, f"its user {user.name} does not have it as an operand")
        for predecessor in instruction.control_predecessors:
            if predecessor not in members:
                raise _error(instruction, f"its control predecessor {predecessor.name} is not in the computation")
        verify_instruction(instruction)
    computation.post_order()  # raises for cycles


def verify_collectives(module: HloModule, num_replicas: int, num_partitions: int) -> None:
    """Verifies that the module's collectives can run on so many devices.

    It checks their groups, their source_target_pairs, and the shapes that depend on the size of a group. `verify`
    checks this only for the counts that the module itself declares. A count of 1 in a module means that none is
    declared.
    """
    for computation in module.computations:
        for instruction in computation.instructions:
            if Trait.COLLECTIVE in instruction.op.traits:
                _verify_instruction(instruction, (num_replicas, num_partitions))


def verify_instruction(instruction: HloInstruction) -> None:
    """Verifies opcode, arity, attributes, and that the shape is the one that the op table's rule gives."""
    _verify_instruction(instruction, _stated_counts(instruction))


def _stated_counts(instruction: HloInstruction) -> DeviceCounts:
    module = instruction.parent.module if instruction.parent is not None else None
    counts = (1, 1) if module is None else (module.num_replicas, module.num_partitions)
    return (counts[0] if counts[0] > 1 else None, counts[1] if counts[1] > 1 else None)


def _verify_instruction(instruction: HloInstruction, counts: DeviceCounts) -> None:
    try:
        op = lookup(instruction.opcode)
        instruction.shape.validate()
        wrong = op.wrong_arity(len(instruction.operands)) or _wrong_attribute(instruction, op)
        if wrong is None:
            operands = [o.shape for o in instruction.operands]
            attributes = instruction.attributes
            if Trait.COLLECTIVE in op.traits:
                attributes = {**attributes, DEVICE_COUNTS: counts}
            op.shape(operands, attributes, instruction.shape)
            wrong = _wrong_pair(instruction)
    except XlaError as error:
        error.location = error.location or instruction.location
        error.op = error.op or instruction.opcode
        error.message = f"{instruction.name}: {error.message}"
        raise
    if wrong is not None:
        raise _error(instruction, wrong)


def _error(instruction: HloInstruction, message: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{instruction.name} = {instruction.opcode}(...): {message}",
        op=instruction.opcode,
        location=instruction.location,
    )


def _verify_parameters(computation: HloComputation, instructions: Sequence[HloInstruction]) -> None:
    parameters = [i for i in instructions if i.opcode == Opcode.PARAMETER]
    for parameter in parameters:
        number = parameter.attributes.get("parameter_number")
        if not isinstance(number, int) or not 0 <= number < len(parameters):
            raise _error(parameter, f"parameter number {number} is not within 0..{len(parameters) - 1}")
    known = set(parameters)
    for number, parameter in enumerate(computation.parameters):
        if parameter.attribute("parameter_number") != number or parameter not in known:
            raise _error(parameter, f"two parameters of {computation.name} have one number, or {number} is missing")
    if len(computation.parameters) != len(parameters):
        raise InvalidArgumentError(f"computation {computation.name} has a parameter that is not in its parameter list")


def _wrong_attribute(instruction: HloInstruction, op: OpDef) -> str | None:
    for name, value in instruction.attributes.items():
        attribute = op.attribute(name)
        if attribute is None:
            return f"{op.opcode} has no attribute {name}"
        if not is_of_kind(attribute, value):
            return f"attribute {name} is {value!r}; expected a value of kind {attribute.kind.value}"
    return None


def _wrong_pair(instruction: HloInstruction) -> str | None:
    """Returns what is wrong with the operand of a done op, which must be a start op.

    In a pipelined loop the operand comes out of a tuple, where any value is accepted.
    """
    starts = instruction.op.waits_for
    if not starts:
        return None
    operand = instruction.operand(0)
    passed_on = not operand.op.traits.isdisjoint((Trait.GIVEN, Trait.FORWARDING)) or operand.opcode == Opcode.WHILE
    if operand.opcode not in starts and not passed_on:
        return f"its operand {operand.name} is a {operand.opcode}; expected {' or '.join(starts)}"
    return None


def _verify_aliases(module: HloModule) -> None:
    """Checks that aliased leaves exist and have equal sizes, and that no output or parameter is aliased twice."""
    shapes = module.parameter_shapes
    outputs: set[tuple[int, ...]] = set()
    parameters: set[tuple[int, tuple[int, ...]]] = set()
    for alias in module.input_output_aliases:
        if not 0 <= alias.parameter_number < len(shapes):
            raise InvalidArgumentError(f"an output is aliased to parameter {alias.parameter_number} of {len(shapes)}")
        output = module.result_shape.subshape(alias.output_index, "output index")
        parameter = shapes[alias.parameter_number].subshape(alias.parameter_index, "parameter index")
        if alias.output_index in outputs:
            raise InvalidArgumentError(f"output {list(alias.output_index)} is aliased twice")
        source = (alias.parameter_number, alias.parameter_index)
        if source in parameters:
            raise InvalidArgumentError(f"parameter {source[0]} {list(source[1])} is aliased twice")
        if output.byte_size != parameter.byte_size or output.is_tuple or parameter.is_tuple:
            raise InvalidArgumentError(
                f"output {list(alias.output_index)}, {output.without_layout()}, cannot take the buffer of parameter "
                f"{alias.parameter_number} {list(alias.parameter_index)}, {parameter.without_layout()}"
            )
        outputs.add(alias.output_index)
        parameters.add(source)
    for number, index in module.buffer_donors:
        if not 0 <= number < len(shapes):
            raise InvalidArgumentError(f"parameter {number} of {len(shapes)} is a buffer donor")
        shapes[number].subshape(index, "donor index")
        if (number, tuple(index)) in parameters:
            raise InvalidArgumentError(f"parameter {number} {list(index)} is a donor and aliased")


def _verify_schedule(module: HloModule) -> None:
    """Checks that each schedule has all instructions once, each after its operands and control predecessors."""
    computations = set(module.computations)
    for computation, order in (module.schedule or {}).items():
        if computation not in computations:
            raise InvalidArgumentError(f"the schedule has computation {computation.name}, which is not in the module")
        if len(order) != computation.instruction_count or set(order) != set(computation.instructions):
            raise InvalidArgumentError(f"the schedule of {computation.name} is not an order of its instructions")
        seen: set[HloInstruction] = set()
        for instruction in order:
            for before in (*instruction.operands, *instruction.control_predecessors):
                if before not in seen:
                    raise _error(instruction, f"it is scheduled before {before.name}, which it needs")
            seen.add(instruction)
