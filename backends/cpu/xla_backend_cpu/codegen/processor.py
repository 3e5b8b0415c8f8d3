"""The properties of a processor that the kernels of products are shaped for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence

from xla_core.target import CacheLevel

__all__ = ["Processor"]

_USUAL_CACHE = CacheLevel(size_bytes=1 << 20, ways=16)
_USUAL_LAST_CACHE_BYTES = 32 << 20


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
        cache: the second-level cache.
        last_cache_bytes: the size of the last level of cache, which several cores may share.
    """

    register_bytes: int
    registers: int
    has_fma: bool = True
    pair_dot: str = ""
    byte_dot: str = ""
    cache: CacheLevel = _USUAL_CACHE
    last_cache_bytes: int = _USUAL_LAST_CACHE_BYTES

    @staticmethod
    def of(features: Iterable[str], triple: str, caches: Sequence[CacheLevel] = ()) -> Processor:
        """The processor with LLVM's `features`; `caches` are its levels of cache, or empty if they are unknown."""
        present = set(features)
        cache = caches[1] if len(caches) > 1 else _USUAL_CACHE
        last = caches[-1].size_bytes if len(caches) > 2 else _USUAL_LAST_CACHE_BYTES

        def intrinsic(feature: str, name: str) -> str:
            return f"llvm.x86.{name}" if feature in present else ""

        if "avx512f" in present:
            pairs = intrinsic("avx512bw", "avx512.pmaddw.d.512")
            bytes_ = intrinsic("avx512vnni", "avx512.vpdpbusd.512")
            return Processor(64, 32, True, pairs, bytes_, cache, last)
        if "avx" in present:
            pairs = intrinsic("avx2", "avx2.pmadd.wd")
            bytes_ = intrinsic("avxvnni", "avx512.vpdpbusd.256")
            return Processor(32, 16, "fma" in present, pairs, bytes_, cache, last)
        if triple.startswith("aarch64"):
            return Processor(16, 32, cache=cache, last_cache_bytes=last)
        pairs = intrinsic("sse2", "sse2.pmadd.wd")
        return Processor(16, 16, "fma" in present, pairs, cache=cache, last_cache_bytes=last)
