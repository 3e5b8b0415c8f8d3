"""PTX text as data: types, tokens, programs, and the reader that makes one from the other."""
