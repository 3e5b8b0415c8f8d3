"""The processor that a program is compiled for ahead of time, and the compiler for it."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping

from xla_backend_cpu.ahead_of_time.arena_abi import ArenaAbi
from xla_backend_cpu.ahead_of_time.processor_probe import ProcessorProbe, probe, widest_vector_bits
from xla_backend_cpu.caches import usual_caches
from xla_backend_cpu.codegen.module_emitter import MODULE_OPCODES
from xla_backend_cpu.codegen.processor import Processor
from xla_backend_cpu.executor import ALIGNMENT
from xla_backend_cpu.host import architecture
from xla_core.backend import AheadOfTimeOptions
from xla_core.codegen.llvm import check_processor, emitter_capabilities
from xla_core.errors import InvalidArgumentError
from xla_core.hlo import ElementType, HloInstruction, Opcode
from xla_core.target import (
    AlignmentRules,
    Capabilities,
    DeviceDescription,
    FusionCosts,
    FusionPreferences,
    ParallelModel,
    TargetConfig,
)

_USUAL_FEATURES: Mapping[str, str] = {"riscv64": "+m,+a,+f,+d,+c", "riscv32": "+m,+a,+c"}
"""The features that Linux distributions require of a processor, where LLVM assumes fewer."""

_SYSTEMS = ("linux", "none", "freebsd", "netbsd", "openbsd", "windows", "fuchsia", "rtems", "zephyr", "wasi")

_PORTABLE = "riscv64-unknown-elf"
"""The target of C for no processor in particular: addresses of 64 bits, the lowest byte of a number first."""

_PORTABLE_VECTOR_BITS = 128

_REGISTERS: Mapping[str, int] = {"x86_64": 16, "i386": 8, "i686": 8, "arm": 16, "thumb": 16}
_FEW_REGISTERS = 16  # vectors of a processor without vector registers


@dataclasses.dataclass(frozen=True)
class AheadOfTimeTarget:
    """A processor, as LLVM and the passes need it. `of` makes it from options, and checks them."""

    triple: str
    cpu: str
    features: str
    abi_name: str
    vector_bits: int
    scale: int  # the factor of scalable vectors, or 0 where code doesn't depend on it
    probe: ProcessorProbe
    options: AheadOfTimeOptions

    @staticmethod
    def of(options: AheadOfTimeOptions, own: tuple[str, str, str]) -> AheadOfTimeTarget:
        """The target of options. `own` are triple, processor and features where the options have no triple.

        Raises:
            InvalidArgumentError: LLVM knows no such target, or it has no such option.
        """
        if options.emit == "c":
            return _for_c(options)
        triple, cpu, features = own
        if options.triple:
            triple, cpu = _normalized(options.triple), ""
            features = _USUAL_FEATURES.get(architecture(triple), "")
        probe(triple, "", "")
        check_processor(triple, options.cpu, options.features)
        if options.cpu:
            cpu, features = options.cpu, ""
        features = ",".join(filter(None, (features, options.features.replace(" ", ""))))
        triple, features, abi_name = _with_float_abi(triple, features, options.float_abi)
        found = probe(triple, cpu, features)
        if not found.has_floats and (options.float_abi == "hard" or triple.endswith("hf")):
            raise InvalidArgumentError(
                f"{triple} {cpu}".rstrip() + " has no floating-point registers",
                hint="name the processor by --cpu, or its floating-point unit by --features, such as +vfp2 or +f,+d",
            )
        vector_bits, scale = found.vector_bits, 0
        if options.vector_length is not None:
            vector_bits = options.vector_length
            _check_vector_length(vector_bits, triple, cpu, features, found)
            if architecture(triple).startswith("riscv"):
                features += f",+zvl{vector_bits}b"
            elif found.is_scalable:
                scale = vector_bits // 128
        return AheadOfTimeTarget(triple, cpu, features, abi_name, vector_bits, scale, found, options)

    @property
    def description(self) -> str:
        """The processor, for display."""
        if self.options.emit == "c" and not self.options.triple:
            return "any processor with addresses of 64 bits that stores the lowest byte of a number first"
        return f"{self.triple} {self.cpu}".rstrip()

    @functools.cached_property
    def processor(self) -> Processor:
        """The processor that the kernels of products are shaped for."""
        caches = usual_caches(self.cpu)
        if self.options.optimize_for_size:
            return Processor(0, 0, caches=caches)
        kind = architecture(self.triple)
        registers = _REGISTERS.get("arm" if kind.startswith(("arm", "thumb")) else kind, 32)
        if not self.vector_bits:
            return Processor(16, _FEW_REGISTERS, has_fma=self.probe.has_fma, caches=caches)
        if kind == "x86_64" and self.vector_bits == 512:
            registers = 32
        return Processor(self.vector_bits // 8, registers, has_fma=self.probe.has_fma, caches=caches)

    @functools.cached_property
    def config(self) -> TargetConfig:
        """The description of the target that the core's passes use."""
        return TargetConfig(
            name="cpu",
            triple=self.triple,
            device=DeviceDescription(
                name=self.description,
                core_count=self.options.threads,
                vector_bytes=self.vector_bits // 8,
                caches=usual_caches(self.cpu),
            ),
            capabilities=_capabilities(has_wide_words=self.options.emit != "c" or self.probe.pointer_bytes == 8),
            alignment=AlignmentRules(buffer=ALIGNMENT, allocation=ALIGNMENT),
            fusion=FusionPreferences(costs=FusionCosts(kernel=10_000.0)),
            parallel=ParallelModel(kernel_nanoseconds=12_000.0, chunk_nanoseconds=100_000.0),
            features=tuple(filter(None, self.features.split(","))),
            flushes_products=True,
        )

    def abi(self) -> ArenaAbi:
        """A new calling convention of kernels, for one program."""
        abi = ArenaAbi(
            self.triple,
            self.cpu,
            self.features,
            vector_width=0 if self.probe.is_scalable else self.vector_bits,
            has_fma=self.probe.has_fma,
            native_floats=frozenset({ElementType.F16} if self.probe.has_half else ()),
            parallel=self.config.parallel,
        )
        abi.pointer_bytes = self.probe.pointer_bytes
        abi.relocation = self.options.relocation_model
        abi.abi_name = self.abi_name
        return abi

    @property
    def function_attributes(self) -> str:
        """LLVM's attributes of every function."""
        words = ["minsize", "optsize"] if self.options.optimize_for_size else []
        if self.scale:
            words.append(f"vscale_range({self.scale},{self.scale})")
        return " ".join(words)


_MOST_SCALABLE_BITS = {"aarch64": 2048, "riscv": 65536}  # of SVE, and of RISC-V's V


def _check_vector_length(bits: int, triple: str, cpu: str, features: str, found: ProcessorProbe) -> None:
    """Refuses a length that the processor's vectors don't have.

    Raises:
        InvalidArgumentError: no vectors of the processor have so many bits.
    """
    kind = architecture(triple)
    if found.is_scalable:
        most = _MOST_SCALABLE_BITS["riscv" if kind.startswith("riscv") else "aarch64"]
        hint = f"the length is a power of two from 128 to {most}"
    else:
        most = widest_vector_bits(triple, cpu, features)
        hint = f"its vectors have {most} bits" if most else "name its vector extension by --features"
        if kind == "aarch64":
            hint += "; --features +sve is for processors with longer ones"
    if not (128 <= bits <= most and bits & (bits - 1) == 0):
        raise InvalidArgumentError(f"{triple} {cpu}".rstrip() + f" has no vectors of {bits} bits", hint=hint)


def _for_c(options: AheadOfTimeOptions) -> AheadOfTimeTarget:
    """The target of C code. A triple determines the size of addresses, the order of bytes and whether vectors are
    useful.

    Conversions of f16 are written as arithmetic of integers, because C has no such type.
    """
    if options.float_abi is not None:
        raise InvalidArgumentError(
            "--float-abi is for object files: how C passes numbers is an option of the C compiler",
            hint="leave out --float-abi, or --emit c",
        )
    if not options.triple:
        if options.cpu or options.features:
            raise InvalidArgumentError("--cpu and --features are those of a triple", hint="add --triple")
        found = ProcessorProbe(_PORTABLE_VECTOR_BITS, False, False, False, True, 8)
        target = AheadOfTimeTarget(_PORTABLE, "", "", "", _PORTABLE_VECTOR_BITS, 0, found, options)
    else:
        try:
            target = AheadOfTimeTarget.of(options.model_copy(update={"emit": "object"}), ("", "", ""))
        except InvalidArgumentError as error:
            error.hint = f"{error.hint}; leave out the triple for C that any processor of 64 bits takes"
            raise
        found = dataclasses.replace(target.probe, is_scalable=False, has_half=False)
    bits = options.vector_length or target.vector_bits
    return dataclasses.replace(target, probe=found, vector_bits=bits, scale=0, options=options)


@functools.cache
def _capabilities(has_wide_words: bool) -> Capabilities:
    """The ops that compiled code runs without Python: all but custom calls, collectives and transfers."""
    emitted = emitter_capabilities(has_wide_words=has_wide_words)
    types = [t for t in ElementType if t.is_array]
    capabilities = emitted.with_ops([*MODULE_OPCODES, Opcode.CUSTOM_CALL], types)
    return capabilities.with_constraint(Opcode.CUSTOM_CALL, _why_not_called)


def _why_not_called(call: HloInstruction) -> str:
    target = call.attribute("custom_call_target")
    return f"{target} needs Python, which code that is compiled ahead of time doesn't have"


def _normalized(triple: str) -> str:
    """Adds a vendor to a triple that has none, as compilers accept it. LLVM would take the system for the vendor."""
    parts = triple.split("-")
    if len(parts) == 2 or (len(parts) == 3 and parts[1] in _SYSTEMS):
        parts.insert(1, "unknown")
    return "-".join(parts)


def _with_float_abi(triple: str, features: str, wanted: str | None) -> tuple[str, str, str]:
    """The triple, the features and LLVM's name of the calling convention for a convention of floating-point numbers."""
    kind = architecture(triple)
    if kind.startswith("riscv"):
        names = re.findall(r"\+([fd])(?=,|$)", features)
        suffix = "" if wanted == "soft" else "d" if "d" in names else "f" if "f" in names else ""
        return triple, features, ("lp64" if kind == "riscv64" else "ilp32") + suffix
    if wanted is None:
        return triple, features, ""
    if kind.startswith(("arm", "thumb")):
        return re.sub(r"eabi(hf)?$", "eabihf" if wanted == "hard" else "eabi", triple), features, ""
    if wanted == "soft":
        raise InvalidArgumentError(f"{triple} has no soft-float convention", hint="leave out --float-abi")
    return triple, features, ""
