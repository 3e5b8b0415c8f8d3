"""Mutants that lose, change or misplace bytes of transfers."""

from __future__ import annotations

import functools
import math

import numpy as np

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Platform, Stream, broken, template
from xla_core.backend import TransferManager
from xla_core.hlo import ElementType

MUTANTS: list[Mutant] = []
says = broken("transfers", "transfers", MUTANTS)


@says("stream.h2d", "The last byte of a copy of more than 64 KiB of an odd size is lost.")
class LastByteOfLargeOddWrites(Stream):
    def write(self, destination, source):
        super().write(destination, source[:-1] if source.size > 1 << 16 and source.size % 2 else source)


@says("stream.d2h", "The last byte of a read of more than 64 KiB of an odd size is lost.")
class LastByteOfLargeOddReads(Stream):
    def read(self, destination, source):
        cut = destination.size > 1 << 16 and destination.size % 2
        super().read(destination[:-1] if cut else destination, source)


@says("stream.d2d", "Copies on the device move whole words of 16 bytes.")
class CopiesWords(Stream):
    def copy(self, destination, source):
        size = min(destination.size, source.size)
        size = size // 16 * 16 if size > 16 else size
        self.ram.block(destination.handle)[:size] = self.ram.block(source.handle)[:size]


@says("stream.h2d", "Copies of more than a megabyte lose the bytes after the last whole page.")
class WholePages(Stream):
    def write(self, destination, source):
        size = source.size // 4096 * 4096 if source.size > 1 << 20 else source.size
        super().write(destination, source[:size])


@says("stream.h2d", "Copies of more than 4 MiB are cut there.")
class FourMebibytes(Stream):
    def write(self, destination, source):
        super().write(destination, source[: 4 << 20])


@says("stream.d2h", "Reads of a size beyond 65,536 bytes begin again.")
class SixteenBitSizes(Stream):
    def read(self, destination, source):
        super().read(destination, source)
        if destination.size > 1 << 16:
            destination[1 << 16 :] = np.resize(destination[: 1 << 16], destination.size - (1 << 16))


@says("stream.h2d", "An empty copy writes a byte.")
class EmptyCopies(Stream):
    def write(self, destination, source):
        if source.size == 0:
            self.ram.block(destination.handle)[:1] = 0
        super().write(destination, source)


def manager(breaks: str, fault: str, mutants: list[Mutant] = MUTANTS, **fields):
    """A decorator of transfer managers."""

    def add(cls: type) -> type:
        class Transfers(Platform):
            def create_transfer_manager(self):
                return cls(self.compiler.target_config)

        Transfers.__name__ = cls.__name__
        make = functools.partial(template, platform=Transfers, transfer_manager=cls, **fields)
        name = "".join(f"-{c.lower()}" if c.isupper() else c for c in cls.__name__)[1:]
        mutants.append(
            Mutant(name=f"transfers/{name}", breaks=breaks, fault=fault, make=make, select="transfers or executables")
        )
        return cls

    return add


@manager("transfer-manager.to-device", "NaNs become the usual NaN.")
class CanonicalNan(TransferManager):
    def to_device(self, array, shape):
        if array.dtype.kind == "f" and array.size:
            array = np.where(np.isnan(array), np.array(np.nan, array.dtype), array)
        return super().to_device(array, shape)


@manager("transfer-manager.to-device", "Signaling NaNs become quiet ones.")
class QuietNan(TransferManager):
    def to_device(self, array, shape):
        if array.dtype == np.float32:
            array = array.copy()
            bits = array.view(np.uint32).reshape(array.shape)
            bits[np.isnan(array)] |= 1 << 22
        return super().to_device(array, shape)


@manager("transfer-manager.from-device", "-0 becomes +0.")
class MinusZero(TransferManager):
    def from_device(self, data, shape):
        array = super().from_device(data, shape)
        return array + 0 if array.dtype.kind == "f" else array


@manager("transfer-manager.from-device", "Denormals become 0.")
class Denormals(TransferManager):
    def from_device(self, data, shape):
        array = super().from_device(data, shape)
        if array.dtype == np.float32:
            array = np.where(np.abs(array) < np.finfo(np.float32).tiny, np.float32(0), array)
        return array


@manager("transfer-manager.transfer-to-device", "The array is taken as contiguous.")
class TakenAsContiguous(TransferManager):
    def to_device(self, array, shape):
        data = np.ndarray(array.shape, array.dtype, buffer=array.base if array.base is not None else array)
        return super().to_device(data, shape)


@manager("transfer-manager.to-device", "Arrays of rank 4 are taken as column-major.")
class RankFour(TransferManager):
    def to_device(self, array, shape):
        if array.ndim == 4:
            array = np.asfortranarray(array).ravel("K").reshape(array.shape)
        return super().to_device(array, shape)


@manager("transfer-manager.byte-size", "`byte_size` of packed types counts a byte for each element.")
class BytesOfPacked(TransferManager):
    def byte_size(self, shape):
        return (
            math.prod(shape.dimensions) * max(shape.element_type.byte_width, 1)
            if shape.is_array
            else super().byte_size(shape)
        )


@manager("transfer-manager.device-shape", "`device_shape` forgets the layout.")
class NoLayout(TransferManager):
    def device_shape(self, shape):
        return shape.without_layout()


@manager("transfer-manager.caller-may-change-array", "The caller's array is kept until its copy is done.")
class KeepsTheArray(TransferManager):
    def transfer_to_device_async(self, stream, array, memory, shape, *, immutable=False):
        super().transfer_to_device_async(stream, array, memory, shape, immutable=True)


@manager("transfer-manager.transfer-from-device", "The transfer from the device takes zeros where an array is large.")
class LargeReadsAreEmpty(TransferManager):
    def transfer_from_device_async(self, stream, memory, shape):
        data = super().transfer_from_device_async(stream, memory, shape)
        return np.zeros_like(data) if data.size > 100_000 else data


@manager("transfer-manager.infeed", "All devices share one infeed.")
class OneInfeed(TransferManager):
    def infeed(self, ordinal):
        return super().infeed(0)


@manager("transfer-manager.outfeed", "The outfeed is the infeed.")
class OutfeedIsInfeed(TransferManager):
    def outfeed(self, ordinal):
        return self.infeed(ordinal)


@manager("transfer-manager.close", "`close` leaves programs waiting for their infeed.")
class CloseDoesNothing(TransferManager):
    def close(self):
        pass


@manager("transfer-manager.layouts", "Pred is written as its bits, and read as `!= 0` of the first byte.")
class PredIsTaken(TransferManager):
    def from_device(self, data, shape):
        array = super().from_device(data, shape)
        if shape.element_type is ElementType.PRED and array.size > 64:
            array = array.copy()
            array.reshape(-1)[64:] = array.reshape(-1)[0]
        return array


class _ReadsThroughARing(TransferManager):
    """Small reads share 64 places."""

    def transfer_from_device_async(self, stream, memory, shape):
        size = self.byte_size(shape)
        if size > 4096:
            return super().transfer_from_device_async(stream, memory, shape)
        ring = vars(self).setdefault("ring", [np.empty(4096, np.uint8) for _ in range(64)])
        ring.append(ring.pop(0))
        stream.memcpy_d2h(ring[-1][:size], memory)
        return ring[-1][:size]


@says("transfer-manager.transfer-from-device", "Arrays of up to 4 KiB that were read change with the 64th later read.")
class ReadsThroughARing(Platform):
    def create_transfer_manager(self):
        return _ReadsThroughARing(self.compiler.target_config)
