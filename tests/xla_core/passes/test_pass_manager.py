from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import resource

import pytest

import xla_core.passes
from xla_core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    ResourceExhaustedError,
)
from xla_core.hlo.parsing.parser import parse_hlo
from xla_core.passes import (
    PASSES,
    HloPass,
    HloPassFix,
    HloPassPipeline,
    ModuleDump,
    PassContext,
    create_pass,
    observe_passes,
    register_pass,
)
from xla_core.passes.rewriter import RewritePass

TEXT = """HloModule jit_f
ENTRY e {
  a = f32[12] constant({1,2,3,4,5,6,7,8,9,10,11,12})
  b = f32[12] negate(a)
  ROOT c = f32[12] negate(b)
}
"""


class Rename(HloPass):
    """Counts down: changes the module `times` times."""

    def __init__(self, name="rename", times=1):
        self.name = name
        self.times = times

    def run(self, module):
        self.times -= 1
        return self.times >= 0


class Break(HloPass):
    name = "break"

    def run(self, module):
        return True


def test_an_observer_sees_the_passes_that_changed_the_module():
    seen = []
    module = parse_hlo(TEXT)
    pipeline = HloPassPipeline("outer", [Rename("first"), Rename("idle", times=0), HloPassPipeline("inner", [Break()])])
    with observe_passes(lambda pipeline, name, changed: seen.append((pipeline, name, changed is module))):
        pipeline.run(module)
    assert seen == [("outer", "first", True), ("inner", "break", True)]
    Rename("later").run(module)
    PassContext.default(module).run(Rename("later"), module, ())
    assert len(seen) == 2


def test_a_pipeline_runs_in_order_and_says_whether_anything_changed():
    ran = []

    class Note(Rename):
        def run(self, module):
            ran.append(self.name)
            return super().run(module)

    pipeline = HloPassPipeline("outer", [Note("a", 0), HloPassPipeline("inner", [Note("b", 1)]), Note("c", 0)])
    assert pipeline.run(parse_hlo(TEXT))
    assert ran == ["a", "b", "c"]
    assert not pipeline.run(parse_hlo(TEXT))


def test_a_pipeline_prints_as_a_tree():
    pipeline = HloPassPipeline("outer", [Rename("a")])
    pipeline.add(HloPassFix(HloPassPipeline("inner", [Rename("b")]), limit=3))
    assert str(pipeline) == "outer:\n  a\n  inner:  (to a fixed point, at most 3 times)\n    b"


def test_fix_stops_when_nothing_changes_and_at_the_limit():
    few, many = Rename(times=3), Rename(times=100)
    module = parse_hlo(TEXT)
    assert HloPassFix(few).run(module)
    assert few.times == -1
    assert HloPassFix(many, limit=10).run(module)
    assert many.times == 90


def test_a_pass_is_skipped_where_nothing_changed_since_it_changed_nothing():
    first, second, third = Rename("first", times=2), Rename("second", times=1), Rename("third", times=0)
    context = PassContext()
    context.run(HloPassFix(HloPassPipeline("all", [first, second, third])), parse_hlo(TEXT), ())
    ran = [t.name for t in context.timings]
    # In the last round, `third` saw the module as the round before left it.
    assert ran == ["first", "second", "third", "first", "second", "third", "first"]


def test_timings_name_their_pipelines():
    context = PassContext()
    inner = HloPassPipeline("inner", [Rename("b")])
    HloPassPipeline("outer", [Rename("a", 0), inner]).run_in(parse_hlo(TEXT), context, ())
    assert [(t.name, t.pipeline, t.changed) for t in context.timings] == [
        ("a", "outer", False),
        ("b", "outer/inner", True),
    ]
    assert all(t.seconds >= 0 and t.instructions_before == t.instructions_after == 3 for t in context.timings)


def test_a_broken_invariant_names_the_pass():
    def refuse(module):
        raise InvalidArgumentError("shapes differ", op="add")

    context = PassContext(invariants=[refuse])
    with pytest.raises(InternalError, match="pass break of p broke the module: shapes differ"):
        HloPassPipeline("p", [Break()]).run_in(parse_hlo(TEXT), context, ())


def test_dumps_have_xlas_names(monkeypatch, tmp_path):
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path} --xla_dump_hlo_pass_re=b|d")
    module = parse_hlo(TEXT)
    context = PassContext.default(module)
    passes = [Rename("a"), Rename("b"), Rename("c", 0), Rename("d")]
    HloPassPipeline("simplify", passes).run_in(module, context, ())
    assert context.dump is not None
    context.dump.hlo("before_optimizations", module)
    context.dump.write("ir-no-opt.ll", "; text")
    names = sorted(p.name for p in (tmp_path / "xla_core").iterdir())
    suffixes = [re.sub(r"^module_\d{4}\.jit_f\.", "", name) for name in names]
    assert suffixes == [
        "0000.simplify.after_a.before_b.txt",
        "0001.simplify.after_b.before_c.txt",
        "0002.simplify.after_c.before_d.txt",
        "0003.simplify.after_d.before_pipeline-end.txt",
        "before_optimizations.txt",
        "ir-no-opt.ll",
    ]
    assert "constant({...})" in next((tmp_path / "xla_core").glob("*before_optimizations.txt")).read_text()


def test_dumps_with_large_constants_read_back(monkeypatch, tmp_path):
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path} --xla_dump_large_constants")
    dump = ModuleDump.from_flags("a/b")
    assert dump is not None
    path = dump.hlo("before_optimizations", parse_hlo(TEXT))
    assert ".a_b.before" in path.name
    assert parse_hlo(path.read_text()).instruction_count == 3


def test_no_flag_no_dump(monkeypatch, tmp_path):
    monkeypatch.setenv("XLA_FLAGS", "")
    assert ModuleDump.from_flags("m") is None
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path} --xla_dump_hlo_module_re=other")
    assert ModuleDump.from_flags("m") is None
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path} --xla_dump_hlo_pass_re=(")
    with pytest.raises(InvalidArgumentError, match="xla_dump_hlo_pass_re"):
        ModuleDump.from_flags("m")


def test_passes_by_name():
    with pytest.raises(InvalidArgumentError) as error:
        create_pass("call-inlner")
    assert "call-inliner" in (error.value.hint or "")
    register_pass("test-rename", Rename)
    try:
        assert isinstance(create_pass("test_rename"), Rename)
        with pytest.raises(AlreadyExistsError):
            register_pass("test-rename", Rename)
    finally:
        del PASSES["test-rename"]


def test_every_pass_is_known_by_its_own_name() -> None:
    assert {create_pass(name).name for name in PASSES} == set(PASSES)
    for file in pkgutil.walk_packages(xla_core.passes.__path__, "xla_core.passes."):
        importlib.import_module(file.name)
    made: list[type] = [HloPass]
    for kind in made:
        made += kind.__subclasses__()
    groups = (HloPassPipeline, HloPassFix, RewritePass)
    concrete = [k for k in made if not inspect.isabstract(k) and k not in groups]
    names = {k.name for k in concrete if k.__module__.startswith("xla_core.passes")}
    of_targets = {
        "complex-pairs",
        "constants-of-lacking-types",
        "element-type-carrier",
        "host-offloading",
        "integer-narrower",
        "legalize",
        "legality-checker",
    }
    assert names - set(PASSES) == of_targets


def test_file_names_of_dumps_are_those_of_hlo_text(tmp_path) -> None:
    path = ModuleDump(tmp_path, "../a é\n" + "x" * 300).write("stablehlo.mlir", "é\udcff")
    assert re.fullmatch(r"module_\d{4}\._\.\._a___x{112}\.stablehlo\.mlir", path.name)
    assert path.read_bytes() == "é".encode() + b"\xff"


@pytest.mark.parametrize(
    ("directory", "kind"),
    [
        ("a\0b", InvalidArgumentError),
        ("a\ud800b", InvalidArgumentError),
        ("/proc/nothing", FailedPreconditionError),
        ("/dev/full", FailedPreconditionError),
    ],
)
def test_dumps_that_cannot_be_written_say_why(directory, kind):
    dump = ModuleDump.from_flags("m", directory)
    assert dump is not None
    with pytest.raises(kind, match="director"):
        dump.write("txt", "text")


def test_a_limit_on_files_is_exhausted(monkeypatch, tmp_path):
    dump = ModuleDump.from_flags("m", str(tmp_path))
    assert dump is not None
    dump.write("txt", "text")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1, most))
    try:
        with pytest.raises(ResourceExhaustedError, match="limits on files"):
            dump.write("txt", "text")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_full_disk_is_exhausted(monkeypatch, tmp_path):
    dump = ModuleDump.from_flags("m", str(tmp_path))
    assert dump is not None
    path = dump.write("txt", "text")
    path.unlink()
    path.symlink_to("/dev/full")  # every write to it fails for lack of space
    with pytest.raises(ResourceExhaustedError, match="cannot write the dump"):
        dump.write("txt", "text")
