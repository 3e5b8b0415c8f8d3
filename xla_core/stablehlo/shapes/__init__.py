"""Dynamic shapes. `refine` specializes a program with `?` dimensions for the shapes of given arguments.

`lower` for whole programs is here too, because it refines programs with dynamic shapes first.
"""
