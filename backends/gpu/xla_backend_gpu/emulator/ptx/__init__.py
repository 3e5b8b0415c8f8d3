"""PTX as data: types, tokens, programs, and the reader that makes programs from text."""
