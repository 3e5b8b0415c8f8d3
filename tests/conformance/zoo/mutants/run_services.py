"""Faults of runtimes: what executions, serialized programs, collectives and open devices leave or forget."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import threading
import time

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.mutants.collectives import communicator, with_attributes
from tests.conformance.zoo.parts import Compiler, Executor, Platform, TemplateExecutable, broken
from xla_core.backend import Allocator, LiteralQueue, TransferManager
from xla_core.errors import UnimplementedError
from xla_core.runtime import InProcessCommunicator

MUTANTS: list[Mutant] = []
_runs = broken("executables", "executables or programs", MUTANTS)
_collectives = broken("collectives", "collectives", MUTANTS)
_claims = broken("claims", "claims or ops", MUTANTS)
_loading = broken("loading", "loading", MUTANTS)
_memory = broken("memory", "memory or executables", MUTANTS)


# -- executions -------------------------------------------------------------------------------------------------------


@_runs("executable.enqueue-only", "The first execution of a program waits for its end.")
class WaitsOnce(TemplateExecutable):
    ran = False

    def execute_async_on_stream(self, run_options, arguments):
        results = super().execute_async_on_stream(run_options, arguments)
        if not self.ran:
            self.ran = True
            run_options.stream.synchronize()
        return results


@_runs("executable.donation", "A result that is a parameter is the argument's own memory, though it isn't donated.")
class ReturnsArguments(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        results = list(super().execute_async_on_stream(run_options, arguments))
        root = self.module.entry.root
        leaves = root.operands if root.opcode == "tuple" else [root]
        donated = {a.parameter_number for a in self.module.input_output_aliases}
        for n, leaf in enumerate(leaves):
            while leaf.opcode == "copy":
                leaf = leaf.operand(0)
            if leaf.opcode == "parameter" and leaf.parameter_number not in donated and len(leaves) == len(results):
                mine = arguments[leaf.parameter_number]
                if mine not in results:
                    run_options.allocator.free(results[n])
                    results[n] = mine
        return results


class _Delayed(Allocator):
    """An allocator that keeps the memory that an execution frees until `settle`."""

    def __init__(self, real):
        self.real, self.freed, self.running = real, [], True

    def allocate(self, size, memory_space=0):
        return self.real.allocate(size, memory_space)

    def free(self, memory):
        if self.running:
            self.freed.append(memory)
        else:
            self.real.free(memory)

    def settle(self, keep=0):
        self.running = False
        for memory in self.freed[keep:]:
            self.real.free(memory)


@_memory("executable.error-frees", "An execution that fails keeps what it had allocated.")
class KeepsWhenItFails(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        allocator = _Delayed(run_options.allocator)
        results = super().execute_async_on_stream(dataclasses.replace(run_options, allocator=allocator), arguments)
        allocator.settle()
        return results


@_memory("executable.run", "Each 64th execution of a program keeps a temporary.")
class KeepsATemporary(TemplateExecutable):
    count = 0

    def execute_async_on_stream(self, run_options, arguments):
        self.count += 1
        allocator = _Delayed(run_options.allocator)
        try:
            return super().execute_async_on_stream(dataclasses.replace(run_options, allocator=allocator), arguments)
        finally:
            allocator.settle(1 if self.count % 64 == 0 else 0)


@_runs(
    "executable.many-threads",
    "An execution that begins while another thread begins one of the program takes its arguments.",
)
class OneListOfArguments(TemplateExecutable):
    arguments = ()

    def execute_async_on_stream(self, run_options, arguments):
        self.arguments = arguments
        time.sleep(0)
        return super().execute_async_on_stream(run_options, self.arguments)


@_runs(
    "executable.run",
    "A program runs with the replica's number for the partition's, and the other way round.",
    select="test_ids_are or test_devices_meet",
)
class ExchangesIds(TemplateExecutable):
    def execute_async_on_stream(self, run_options, arguments):
        swapped = dataclasses.replace(
            run_options, replica_id=run_options.partition_id, partition_id=run_options.replica_id
        )
        return super().execute_async_on_stream(swapped, arguments)


# -- serialized programs and figures ----------------------------------------------------------------------------------


@_runs(
    "executable.serialize",
    "A serialized program is for one device, whatever it was for.",
    select="executables or programs or collectives",
)
class SerializesForOne(TemplateExecutable):
    def serialize(self):
        return re.sub(r", (?:num_partitions|replica_count)=\d+", "", self.module.to_text()).encode()


@_runs("compiler.deserialize", "Programs that were serialized with equal lengths and beginnings are taken for equal.")
class LoadsByTheBeginning(Compiler):
    def deserialize(self, data, options=None, executor=None):
        kept = self.__dict__.setdefault("loaded", {})
        key = (len(data), data[:64])
        if key not in kept:
            kept[key] = bytes(data)
        return super().deserialize(kept[key], options, executor)


@_runs("executable.fingerprint", "The fingerprint leaves out the values of constants.")
class FingerprintWithoutValues(TemplateExecutable):
    def fingerprint(self):
        text = re.sub(r"constant\(.*?\)", "constant()", self.module.to_text())
        return hashlib.sha256(text.encode()).hexdigest()


@_runs("executable.cost", "Transcendental functions cost nothing of their own: they are counted as flops.")
class CountsThemAsFlops(TemplateExecutable):
    def cost_analysis(self):
        costs = dict(super().cost_analysis())
        costs["flops"] += costs["transcendentals"]
        return {**costs, "transcendentals": 0.0}


@_runs("executable.memory-stats-sizes", "The memory statistics count the first of several results.")
class CountsTheFirstResult(TemplateExecutable):
    def memory_stats(self):
        stats = super().memory_stats()
        size = self.result_shapes[0].byte_size if self.result_shapes else 0
        return dataclasses.replace(stats, output_bytes=min(stats.output_bytes, size))


@_runs("executable.as-text", "The text of a program ends after 4 KiB.")
class ShortText(TemplateExecutable):
    def as_text(self):
        return super().as_text()[:4096]


# -- feeds and collectives --------------------------------------------------------------------------------------------


class _OneFeed(TransferManager):
    def infeed(self, ordinal):
        return super().infeed(0)


class _Newest(LiteralQueue):
    def get(self, timeout=None):
        with self._changed:
            if len(self._items) > 2:
                self._items.rotate(1)
        return super().get(timeout)


class _NewestFirst(TransferManager):
    def _queue(self, kind, ordinal):
        return self._queues.setdefault((kind, ordinal), _Newest(kind))


def _manager(name, promise, fault, cls):
    made = type(name, (Platform,), {"create_transfer_manager": lambda self: cls(self.compiler.target_config)})
    broken("executables", "executables or collectives or [infeed or [outfeed or programs", MUTANTS)(promise, fault)(
        made
    )


_manager("OneInfeed", "transfer-manager.infeed", "All devices read the infeed of the first one.", _OneFeed)
_manager(
    "NewestFirst",
    "transfer-manager.infeed",
    "Where more than two values wait in a feed, the newest comes first.",
    _NewestFirst,
)


@communicator(
    "communicator.end-releases",
    "A device that failed doesn't tell the others, which wait until their time is up.",
    _collectives,
)
class FailsInSilence(InProcessCommunicator):
    def end(self, error):
        if error is None:
            super().end(error)


@communicator("communicator.in-order", "`all-reduce` in groups of one device each adds up all devices.", _collectives)
class TakesOnesForAll(InProcessCommunicator):
    def enqueue(self, stream, collective, operands, results):
        groups = collective.instruction.attributes.get("replica_groups") or ()
        if collective.instruction.opcode == "all-reduce" and groups and all(len(g) == 1 for g in groups):
            collective = with_attributes(collective, replica_groups=(tuple(g[0] for g in groups),))
        super().enqueue(stream, collective, operands, results)


# -- claims and loading -----------------------------------------------------------------------------------------------


@_claims(
    "compiler.supported-after-passes",
    "The compiler refuses results of more than five dimensions, which the target claims.",
)
class RefusesHighRanks(Compiler):
    def make_kernel(self, instruction, environment):
        if instruction.shape.is_array and instruction.shape.rank > 5:
            raise UnimplementedError(f"{instruction.name} has too many dimensions")
        return super().make_kernel(instruction, environment)


@_loading("platform.create-executor-in-child", "A forked child can't open the device: it gets an OSError.")
class OpensInTheParent(Platform):
    def __init__(self):
        super().__init__()
        self.process = os.getpid()

    def create_executor(self, ordinal):
        if os.getpid() != self.process:
            raise OSError("bad file descriptor")
        return super().create_executor(ordinal)


@_loading("hooks.changes-nothing", "The platform sets an environment variable when it is made.")
class SetsTheEnvironment(Platform):
    def __init__(self):
        super().__init__()
        os.environ["OMP_WAIT_POLICY"] = "ACTIVE"


@_loading(
    "executor.close",
    "An open device has a thread that stays when the device is closed.",
    select="loading or memory or streams",
)
class LeavesAMonitor(Executor):
    def __init__(self, ordinal, memory_bytes):
        super().__init__(ordinal, memory_bytes)
        threading.Thread(target=threading.Event().wait, name="monitor", daemon=True).start()
