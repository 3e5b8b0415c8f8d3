"""Faults of compilers' passes that merge or remove instructions, without a look at all that these may differ in."""

from __future__ import annotations

from tests.conformance.zoo.mutant import Mutant
from tests.conformance.zoo.parts import Rewriter, broken
from xla_core.hlo import OPS, AttributeKind, Trait

MUTANTS: list[Mutant] = []
_merges = broken("executables", "twins", MUTANTS)
_PROMISE = "compiler.run-backend"
_PINNED = {Trait.SIDE_EFFECT, Trait.COLLECTIVE, Trait.NONDETERMINISTIC, Trait.BARRIER, Trait.ASYNC, Trait.GIVEN}


class Merger(Rewriter):
    """Takes two instructions of a computation for one if their keys are equal, but those that may have effects."""

    kept: tuple[str, ...] = ("call", "while", "conditional", "custom-call", "fusion")

    def rewrite(self, c, i):
        if _PINNED & OPS[i.opcode].traits or i.shape.is_token or i.opcode in self.kept:
            return None
        key = self.key(i)
        for other in c.post_order():
            if other is i or key is None:
                return None
            if other.opcode == i.opcode and other.shape == i.shape and self.key(other) == key:
                return other
        return None

    def attributes(self, i, *, without=()):
        return {n: str(v) for n, v in i.attributes.items() if n not in without}

    def key(self, i):
        return [id(o) for o in i.operands], self.attributes(i)


@_merges(_PROMISE, "Two reductions of one array are one, whatever they reduce by.")
class MergesReductions(Merger):
    def key(self, i):
        return super().key(i)[0], self.attributes(i, without=i.op.calls) if i.opcode == "reduce" else id(i)


@_merges(_PROMISE, "Windows are alike if they have one size: their padding isn't compared.")
class MergesWindows(Merger):
    def key(self, i):
        sizes = [(w.size, w.stride) for w in i.attributes.get("window") or ()]
        return [id(o) for o in i.operands], sizes, self.attributes(i, without=("window",))


@_merges(_PROMISE, "The order of operands isn't compared, as for sums.")
class MergesInAnyOrder(Merger):
    def key(self, i):
        return sorted(id(o) for o in i.operands), self.attributes(i)


@_merges(_PROMISE, "The last operand isn't compared.")
class MergesWithoutTheLast(Merger):
    def key(self, i):
        return ([id(o) for o in i.operands[:-1]], self.attributes(i)) if len(i.operands) > 1 else None


@_merges(_PROMISE, "The flags of an instruction aren't compared.", profile="full")
class MergesWithoutFlags(Merger):
    def key(self, i):
        flags = [n for n, a in i.op.attributes.items() if a.kind is AttributeKind.BOOL]
        return [id(o) for o in i.operands], self.attributes(i, without=flags)


@_merges(_PROMISE, "Of dimensions' lists only the length is compared.")
class MergesByLength(Merger):
    def key(self, i):
        lists = [n for n, a in i.op.attributes.items() if a.kind is AttributeKind.INTS]
        lengths = [len(i.attributes.get(n, ())) for n in lists]
        return [id(o) for o in i.operands], lengths, self.attributes(i, without=lists)


@_merges(_PROMISE, "Calls of one computation with equal operands are one, also where it has effects.", select="effects")
class MergesCalls(Merger):
    kept = ()

    def key(self, i):
        return ([id(o) for o in i.operands], id(i.attribute("to_apply"))) if i.opcode == "call" else None


@_merges(_PROMISE, "A call whose result nobody reads is removed, whatever is in it.", select="effects")
class RemovesUnreadCalls(Rewriter):
    def rewrite(self, c, i):
        if i.opcode == "call" and not i.users and not i.is_root and i.shape.is_array:
            c.remove(i)


@_merges(
    _PROMISE, "What never changes in a loop's body is computed before the loop, also if it feeds.", select="effects"
)
class HoistsCalls(Rewriter):
    levels = (0, 1, 2)

    def rewrite(self, c, i):
        if i.opcode != "while":
            return
        body = i.attribute("body")
        for call in [j for j in body.instructions if j.opcode == "call" and not j.is_root and not j.users]:
            if all(o.opcode == "constant" for o in call.operands):
                new = [c.constant(o.literal, o.shape) for o in call.operands]
                c.add("call", *new, to_apply=call.attribute("to_apply"))
                body.remove(call)


def _form(computation):
    return [(i.opcode, str(i.shape), [str(o.opcode) for o in i.operands]) for i in computation.post_order()]


@_merges(_PROMISE, "Computations with the same ops and shapes are one: constants and attributes aren't compared.")
class SharesComputations(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "call":
            return
        mine = i.attribute("to_apply")
        for other in c.post_order():
            if other is i:
                return
            if other.opcode == "call" and _form(other.attribute("to_apply")) == _form(mine):
                i.attributes["to_apply"] = other.attribute("to_apply")
                return


@_merges(_PROMISE, "Branches that end in the same op of their operand's parts are one branch.")
class MergesBranches(Rewriter):
    def rewrite(self, c, i):
        branches = i.called_computations if i.opcode == "conditional" else ()
        if len(branches) != 2 or _form(branches[0]) != _form(branches[1]) or i.operand(1) is not i.operand(2):
            return None
        return c.add("call", i.operand(1), to_apply=branches[0])


@_merges(_PROMISE, "A conversion of an array that was converted to the same width before is that one.")
class MergesConversions(Rewriter):
    def rewrite(self, c, i):
        if i.opcode != "convert":
            return None
        for other in c.post_order():
            if other is i:
                return None
            if other.opcode == "convert" and other.operand(0) is i.operand(0):
                types = other.shape.element_type, i.shape.element_type
                if types[0].bit_width == types[1].bit_width and all(t.is_integral for t in types):
                    return c.add("bitcast-convert", other, shape=i.shape) if types[0] != types[1] else other
        return None
