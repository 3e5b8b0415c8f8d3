"""The properties of a processor that the kernels of products are shaped for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from xla_core.target import CacheLevel

_USUAL_CACHES = tuple(
    CacheLevel(size_bytes=size, ways=ways) for size, ways in ((32 << 10, 8), (1 << 20, 16), (32 << 20, 16))
)


@dataclasses.dataclass(frozen=True, slots=True)
class Processor:
    """A processor's vector registers, its instructions for products of integers, and its caches.

    Attributes:
        register_bytes: the size of a vector register.
        registers: the number of vector registers; 0 leaves products to plain loops, which are less code.
        has_fma: whether `a * b + c` with a single rounding is one instruction.
        pair_dot: LLVM's intrinsic that adds the products of adjacent 16-bit integers, or "".
        byte_dot: LLVM's intrinsic that adds to each lane of 32 bits the products of four unsigned and four signed
            bytes, or "".
        caches: the levels of caches of data. Those that are unknown are taken to be the usual ones.
    """

    register_bytes: int
    registers: int
    has_fma: bool = True
    pair_dot: str = ""
    byte_dot: str = ""
    caches: tuple[CacheLevel, ...] = ()

    @property
    def first_cache_bytes(self) -> int:
        return self._level(0).size_bytes

    @property
    def cache(self) -> CacheLevel:
        """The second-level cache."""
        return self._level(1)

    @property
    def last_cache_bytes(self) -> int:
        """The size of the last level of cache, which several cores may share."""
        return self._level(max(2, len(self.caches) - 1)).size_bytes

    def _level(self, number: int) -> CacheLevel:
        return (self.caches if number < len(self.caches) else _USUAL_CACHES)[number]

    @staticmethod
    def of(features: Iterable[str], triple: str, caches: Sequence[CacheLevel] = ()) -> Processor:
        """The processor with LLVM's `features`; `caches` are its levels of cache, as far as they are known."""
        present = set(features)
        levels = tuple(caches)

        def intrinsic(feature: str, name: str) -> str:
            return f"llvm.x86.{name}" if feature in present else ""

        if "avx512f" in present:
            pairs = intrinsic("avx512bw", "avx512.pmaddw.d.512")
            bytes_ = intrinsic("avx512vnni", "avx512.vpdpbusd.512")
            return Processor(64, 32, True, pairs, bytes_, levels)
        if "avx" in present:
            pairs = intrinsic("avx2", "avx2.pmadd.wd")
            bytes_ = intrinsic("avxvnni", "avx512.vpdpbusd.256")
            return Processor(32, 16, "fma" in present, pairs, bytes_, levels)
        if triple.startswith("aarch64"):
            return Processor(16, 32, caches=levels)
        pairs = intrinsic("sse2", "sse2.pmadd.wd")
        return Processor(16, 16, "fma" in present, pairs, caches=levels)
