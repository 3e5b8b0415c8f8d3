"""Rewrites a program for a release of StableHLO: ops that the release lacks are expanded, or raise an error."""

from __future__ import annotations

from xla_core.errors import XlaError
from xla_core.stablehlo import ir
from xla_core.stablehlo.translate.bytecode.to_vhlo import to_vhlo
from xla_core.stablehlo.translate.bytecode.vhlo_encoding import Encoder
from xla_core.stablehlo.translate.call_sites import locate
from xla_core.stablehlo.translate.expansion import expand
from xla_core.stablehlo.vhlo.versions import Version


def for_release(module: ir.Module, version: Version) -> ir.Module:
    """Rewrites a module to use only ops, types and attributes of the release.

    Ops of dialects other than StableHLO and CHLO stay as they are. Raises VersionError, with the op's location, for an
    op that needs a later release.
    """
    module = expand(module, version)
    encoder = Encoder(version)  # raises VersionError for an op that the release can't encode
    for op in module.walk():
        if not op.name.startswith("stablehlo."):
            continue
        try:
            _, own, _ = to_vhlo(op, version)
            for value in own.values():
                encoder.attribute(value)
            for result in op.results:
                encoder.type(result.type)
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        encoder.type(argument.type)
        except XlaError as error:
            error.op, error.location = error.op or op.name, error.location or op.location
            locate(error, module)
            raise
    for function in module.functions.values():
        encoder.type(function.attributes["function_type"])
    return module
