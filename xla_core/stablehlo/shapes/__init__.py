"""Dynamic shapes. `refine` makes a program with `?` dimensions into one for the shapes of given arguments.

`lower` of whole programs is here too, because it refines first where shapes are dynamic.
"""
