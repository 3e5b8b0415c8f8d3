"""Faults of drivers: last errors that are taken, units, addresses without owners, short numbers, and staging memory."""

from __future__ import annotations

import ctypes
import threading

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Executor, Platform, Stream, broken
from xla_core.backend import DeviceMemory, LiteralQueue, TransferManager
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import Literal

MUTANTS: list[Mutant] = []
_transfers = broken("transfers", "transfers or memory", MUTANTS)
_memory = broken("memory", "memory or executables", MUTANTS)
_streams = broken("streams", "streams or events or transfers", MUTANTS)


# -- streams and events -----------------------------------------------------------------------------------------------


@_streams(
    "stream.d2d",
    "A copy or a fill of no bytes is an invalid argument of the driver, which poisons the stream.",
    select="streams or events or transfers or programs",
)
class RefusesNoBytes(Stream):
    def write(self, destination, source):
        self._check(source.size)
        super().write(destination, source)

    def read(self, destination, source):
        self._check(destination.size)
        super().read(destination, source)

    def copy(self, destination, source):
        self._check(min(destination.size, source.size))
        super().copy(destination, source)

    def fill(self, destination, value):
        self._check(destination.size)
        super().fill(destination, value)

    def _check(self, size):
        if not size:
            raise InvalidArgumentError("the driver's status is 1: invalid argument")


@_streams(
    "stream.synchronize",
    "`synchronize` takes the stream's failure, as a driver's last error is taken: later work runs again.",
)
class TakesTheFailure(Stream):
    def synchronize(self):
        super().synchronize()
        self._error = None


@_streams("stream.h2d", "A copy to the device knows its source's address alone, and doesn't keep it alive.")
class AddressAlone(Stream):
    def memcpy_h2d(self, destination, source):
        address, size = source.ctypes.data, source.size

        def write():
            if size:
                self.write(destination, np.frombuffer((ctypes.c_uint8 * size).from_address(address), np.uint8))

        self.enqueue(write, size * 1e-4)

    def upload(self, destination, source):
        copy = source.copy()
        self.enqueue(lambda: self.write(destination, copy), source.size * 1e-4)


# -- memory -----------------------------------------------------------------------------------------------------------


@_memory(
    "executor.deallocate",
    "Memory that is freed is cleared a little later, also if somebody has it by then.",
    select="memory or executables or transfers",
)
class ClearsLater(Executor):
    def deallocate(self, memory):
        block = self.ram.block(memory.handle)
        super().deallocate(memory)
        timer = threading.Timer(0.002, block.fill, [0])
        timer.daemon = True
        timer.start()


@_memory("executor.allocate", "The size of an allocation has 32 bits: what is larger gets a small block.")
class ShortSizes(Executor):
    def allocate(self, size, memory_space=0):
        memory = super().allocate(size & 0xFFFFFFFF, memory_space)
        return memory and DeviceMemory(memory.handle, size, memory_space=memory_space)


# -- transfers --------------------------------------------------------------------------------------------------------

_STAGING = 256 << 10


@_transfers(
    "stream.d2h",
    "Reads go through two staging buffers of 256 KiB, of which the first is filled again before it was emptied.",
)
class TwoStagingBuffers(Stream):
    def read(self, destination, source):
        super().read(destination, source)
        for begin in range(0, destination.size - 2 * _STAGING, 2 * _STAGING):
            part = destination[begin + 2 * _STAGING : begin + 3 * _STAGING].copy()
            destination[begin : begin + part.size] = part


@_transfers("executor.read-at", "The place in a block where a read begins has 16 bits.")
class ReadsAtShortPlaces(Executor):
    def read_at(self, stream, destination, source, offset):
        super().read_at(stream, destination, source, offset & 0xFFFF)


class _AsItLies(TransferManager):
    def to_device(self, array, shape):
        if array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous and array.dtype.itemsize > 1:
            array = array.T.reshape(-1).reshape(array.shape)
        return super().to_device(array, shape)


@_transfers(
    "transfer-manager.layouts",
    "An array of the host that lies column by column is copied as it lies.",
    select="transfers or programs or executables",
)
class CopiesAsItLies(Platform):
    def create_transfer_manager(self):
        return _AsItLies(self.compiler.target_config)


class _OneStaging(LiteralQueue):
    """A queue whose values of one shape share memory."""

    def put(self, literal):
        kept = self.__dict__.setdefault("kept", {})
        if literal.shape.is_array:
            array = np.asarray(literal.array)
            mine = kept.setdefault((array.shape, array.dtype.str), np.empty_like(array))
            mine[...] = array
            literal = Literal(mine)
        super().put(literal)


class _OutfeedStaging(TransferManager):
    def _queue(self, kind, ordinal):
        if kind != "outfeed":
            return super()._queue(kind, ordinal)
        return self._queues.setdefault((kind, ordinal), _OneStaging(kind))


@broken("transfers", "executables or collectives or [outfeed or programs", MUTANTS)(
    "transfer-manager.outfeed",
    "All values of one shape that a program feeds out come in one memory, where the next one takes their place.",
)
class OneStagingForOutfeeds(Platform):
    def create_transfer_manager(self):
        return _OutfeedStaging(self.compiler.target_config)
