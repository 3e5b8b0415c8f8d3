"""The scaffold from which `xla new NAME --scenario 1` makes packages; see `xla_core.cli.Scaffold`."""

from __future__ import annotations

from xla_core.cli import Scaffold

__all__ = ["SCAFFOLD"]

SCAFFOLD = Scaffold(
    description="a processor with an LLVM target: native code for this machine's processor until you name yours",
    package="xla_backend_cpu",
    templates=("scaffold",),
    distribution="xla-backend-cpu",
    copy_dependencies=("llvmlite>=0.50,<0.51", "pydantic>=2.7", "scipy-openblas32>=0.3.29"),
    renames=(
        (r"priority=100", "priority=0"),
        (r'description="native code by LLVM[^"]*"', 'description="native code for the $name processor"'),
        (r"xla_backend_cpu", "$module"),
        (r"\bCpu(?=[A-Z])", "$class_name"),
        (r'name="cpu"', 'name="$name"'),
    ),
)
