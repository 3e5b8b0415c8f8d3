"""The processors and features that LLVM knows for a target."""

from __future__ import annotations

import difflib
import functools
import re
import subprocess
import sys

from xla_core.errors import InvalidArgumentError

_HELP = """
import sys, llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.Target.from_triple(sys.argv[1]).create_target_machine(cpu="help")
"""


@functools.cache
def _known(triple: str) -> tuple[frozenset[str], frozenset[str]]:
    """The processors and the features that LLVM knows for a target; none where that can't be found out.

    LLVM only prints them, so a process reads them. A program that embeds Python may have no command that starts it.
    """
    try:
        text = subprocess.run([sys.executable, "-c", _HELP, triple], capture_output=True, text=True).stderr
    except OSError:
        text = ""
    processors, _, features = text.partition("Available features")
    names = re.compile(r"^  (\S+) +- ", re.MULTILINE)
    return frozenset(names.findall(processors)), frozenset(names.findall(features))


def check_processor(triple: str, cpu: str, features: str) -> None:
    """Refuses names that LLVM doesn't know. It would ignore them, or end the process when it generates code.

    Raises:
        InvalidArgumentError: the processor or a feature is unknown, or a feature has no sign.
    """
    wanted = [feature.strip() for feature in features.split(",") if feature.strip()]
    if not cpu and not wanted:
        return
    processors, known = _known(triple)
    if not processors:  # nothing is known, or LLVM has no such target, which is another error
        return
    if cpu and cpu not in processors:
        raise InvalidArgumentError(f"LLVM knows no processor {cpu!r} for {triple}", hint=_nearest(cpu, processors))
    for feature in wanted:
        if feature[0] not in "+-" or feature[1:] not in known:
            raise InvalidArgumentError(
                f"{feature!r} is no feature of {triple} with a sign", hint=_nearest(feature.lstrip("+-"), known, "+")
            )


def _nearest(name: str, known: frozenset[str], sign: str = "") -> str:
    found = difflib.get_close_matches(name, known, 3, 0.4) or sorted(known)[:8]
    return f"such as {', '.join(sign + candidate for candidate in found)}"
