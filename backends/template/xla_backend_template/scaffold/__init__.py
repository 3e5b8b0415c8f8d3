"""The scaffolds from which `xla new NAME` makes packages; see `xla_core.cli.Scaffold`."""

from __future__ import annotations

import dataclasses

from xla_core.cli import Scaffold

__all__ = ["DRIVER_IN_C", "GRID_WITH_LLVM", "NO_LLVM", "WITH_LLVM"]

_DESCRIPTION = (r'description="a simulated accelerator[^"]*"', 'description="the $name device, simulated"')

NO_LLVM = Scaffold(
    description="a device without LLVM: the four classes, simulated until you replace them",
    package="xla_backend_template",
    templates=("scaffold/shared", "scaffold/no_llvm"),
    distribution="xla-backend-template",
    copy_dependencies=("pydantic>=2.7",),
    renames=(_DESCRIPTION, ("template", "$name"), ("Template", "$class_name")),
)

WITH_LLVM = Scaffold(
    description="a device with an LLVM target: loops by the shared emitter, simulated until you launch them",
    package="xla_backend_template",
    templates=("scaffold/shared", "scaffold/with_llvm"),
    distribution="xla-backend-template",
    copy_dependencies=("pydantic>=2.7",),
    copy_into="simulation",
    renames=(
        _DESCRIPTION,
        ("xla_backend_template", "$base"),
        ("xla_template_", "xla_${name}_"),
        ('"template"', '"$name"'),
    ),
)

GRID_WITH_LLVM = dataclasses.replace(
    WITH_LLVM,
    description="a grid of threads with an LLVM target: kernels by the shared emitter, simulated until you launch them",
    templates=(*WITH_LLVM.templates, "scaffold/grid"),
)

DRIVER_IN_C = dataclasses.replace(
    WITH_LLVM,
    description="a device with a driver in C: memory, queues and events, and kernels to add to one by one",
    templates=("scaffold/driver",),
    build="\n[tool.hatch.build.hooks.custom]\n",
)
