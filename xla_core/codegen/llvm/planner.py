"""Planner: chooses the form of each kernel and plans it, before anything is emitted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xla_core.codegen.kernel_choice import KEY
from xla_core.codegen.llvm.forms.fft import FFT, FFT_BLOCKS
from xla_core.codegen.llvm.forms.kernel_form import KernelBody, KernelForm, KernelPlan
from xla_core.codegen.llvm.forms.loop import LOOP
from xla_core.codegen.llvm.forms.products import PRODUCT, SHARED_PRODUCT
from xla_core.codegen.llvm.forms.row_groups import ROW_GROUPS
from xla_core.codegen.llvm.forms.row_teams import ROW_TEAMS
from xla_core.codegen.llvm.forms.scans import SCANS
from xla_core.codegen.llvm.forms.scatter import SCATTER
from xla_core.codegen.llvm.forms.scatter_blocks import SCATTER_BLOCKS
from xla_core.codegen.llvm.forms.select_and_scatter import SELECT_AND_SCATTER
from xla_core.codegen.llvm.forms.select_and_scatter_blocks import SELECT_AND_SCATTER_BLOCKS
from xla_core.codegen.llvm.forms.sort import SORT
from xla_core.codegen.llvm.forms.sort_blocks import SORT_BLOCKS
from xla_core.codegen.llvm.forms.thread_elements import THREAD_ELEMENTS
from xla_core.codegen.llvm.forms.tiles import TILES
from xla_core.codegen.llvm.forms.top_k import TOP_K
from xla_core.codegen.llvm.forms.top_k_blocks import TOP_K_BLOCKS
from xla_core.codegen.llvm.forms.transposed_tiles import TRANSPOSED_TILES
from xla_core.errors import InvalidArgumentError, UnimplementedError

FORMS: Sequence[KernelForm[Any]] = (
    SORT_BLOCKS,
    SORT,
    TOP_K_BLOCKS,
    TOP_K,
    FFT_BLOCKS,
    FFT,
    ROW_TEAMS,
    SCATTER_BLOCKS,
    SCATTER,
    SELECT_AND_SCATTER_BLOCKS,
    SELECT_AND_SCATTER,
    SCANS,
    SHARED_PRODUCT,
    PRODUCT,
    TRANSPOSED_TILES,
    THREAD_ELEMENTS,
    TILES,
    ROW_GROUPS,
    LOOP,
)
"""All forms, those for few kernels first. The last one matches every kernel."""


class Planner:
    """Chooses by rule: the first form that has a plan for the target's parallel model.

    A `KernelChoice` in an instruction's `backend_config` decides how it is planned. `Autotuner` writes the choices that
    it measured to be fastest. A backend may override `choose`.

    Args:
        forms: those to choose from.
    """

    def __init__(self, forms: Sequence[KernelForm[Any]] = FORMS) -> None:
        self.forms = forms

    def choose(self, body: KernelBody) -> tuple[KernelForm[Any], KernelPlan]:
        """Returns the first form that computes the kernel, or the one that its `backend_config` names, and its plan.

        Raises:
            UnimplementedError: none of the forms computes the kernel.
            InvalidArgumentError: the form that the instruction's `backend_config` names does not compute the kernel.
        """
        named = body.choice.form
        for form in self.forms:
            if named not in ("", form.name):
                continue
            plan = form.plan(body) if form.matches(body) else None
            if plan is not None:
                return form, plan
        if named:
            raise InvalidArgumentError(
                f"{body.instruction.name}: {KEY} names the form {named!r}, which does not compute it",
                op=body.root.opcode,
                location=body.root.location,
                hint="forms that may: " + ", ".join(form.name for form in self.forms if form.matches(body)),
            )
        raise UnimplementedError(
            f"no form of kernels computes {body.instruction.name}",
            op=body.root.opcode,
            location=body.root.location,
            hint="give the planner a form that computes every kernel, as the last one of FORMS does",
        )
