"""The vocabulary of assembly formats, which describe the pretty forms of ops in the table.

A format is a list of words, as in MLIR's declarative assembly format:

| word | reads |
|---|---|
| `%` | one operand |
| `%*` | operands with commas between them, or none |
| `%,*` | operands with a comma after each |
| `name:kind` | the attribute `name`; the kinds are in `text/directives.py` |
| `<kind>` | several attributes, or regions, at once; in `text/attribute_groups.py` and `text/custom_assembly.py` |
| `attr-dict` | `{name = value, ...}`, or nothing |
| `:kind:` | the types of operands and results; the kinds are in `text/type_directives.py` |
| `(?` ... `?)` | what stands between, if its first word is there |
| any other | itself |

Two readers and the writer follow the same format: `text/op_reader.py` takes any spacing and reports errors,
`text/fast_path.py` makes one regular expression of it, `translate/text/writer.py` writes it.
"""

from __future__ import annotations

UNARY_ASSEMBLY = "% attr-dict : :same:"
BINARY_ASSEMBLY = "% , % attr-dict : :same:"
FUNCTIONAL_ASSEMBLY = "%* attr-dict : :functional:"
RESULTS_ASSEMBLY = "attr-dict : :results:"
RETURN_ASSEMBLY = "%* attr-dict :return:"
CHLO_UNARY_ASSEMBLY = "% attr-dict : :arrow:"
CHLO_BINARY_ASSEMBLY = "% , % attr-dict : :arrow:"
CHLO_BROADCAST_ASSEMBLY = "% , % attr-dict : :functional:"

GENERIC_ASSEMBLY = "( %* ) <properties> attr-dict : :functional:"
"""The generic form after the quoted name of an op without regions."""


def words_of(form: str) -> list[str | list[str]]:
    """Splits a format into words; the words of an optional group are a list."""
    words: list[str | list[str]] = []
    rest = form.split()
    while rest:
        word = rest.pop(0)
        end = rest.index("?)") if word == "(?" else None
        words.append(word if end is None else rest[:end])
        rest = rest if end is None else rest[end + 1 :]
    return words
