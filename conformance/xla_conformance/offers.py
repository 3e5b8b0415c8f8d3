"""Offers a compiler what its target doesn't claim. It must refuse that, or compile it rightly."""

from __future__ import annotations

from xla_conformance.clients import SettingsClient
from xla_core import Client, CompileOptions, LoadedExecutable, UnimplementedError, XlaError
from xla_core.backend import CompileOptions as ContractCompileOptions
from xla_core.backend import Compiler
from xla_core.hlo import HloModule
from xla_core.passes import run_hlo_passes
from xla_core.target import Capabilities


def compile_unclaimed(
    client: Client, program: str | HloModule, options: CompileOptions | None = None
) -> LoadedExecutable:
    """Compiles with the options of the run. Raises UnimplementedError also for what the target doesn't claim."""
    assert isinstance(client, SettingsClient)
    return SettingsClient.compile(client, program, options)


def offer(client: Client, module: HloModule) -> LoadedExecutable | None:
    """Passes an optimized module to `run_backend`, whatever the target claims. Returns None for UNIMPLEMENTED."""
    compiler: Compiler = client.platform.compiler
    target = compiler.target_config.model_copy(update={"capabilities": Capabilities.all_of()})
    options = ContractCompileOptions(optimization_level=0)

    def everything(self: Compiler, module: HloModule, *rest: object) -> HloModule:
        return run_hlo_passes(module, target, options)

    offering = type("Offering", (type(compiler),), {"run_hlo_passes": everything})
    client.platform.compiler = client.platform.create_compiler()
    client.platform.compiler.__class__ = offering
    try:
        return compile_unclaimed(client, module, CompileOptions(optimization_level=0))
    except UnimplementedError:
        return None
    except XlaError as error:
        raise AssertionError(f"What the target doesn't claim is UNIMPLEMENTED: run_backend raises {error!r}") from error
    except Exception as error:
        raise AssertionError(
            f"What the target doesn't claim is UNIMPLEMENTED: run_backend raises {type(error).__name__}: {error}"
        ) from error
    finally:
        client.platform.compiler = compiler
