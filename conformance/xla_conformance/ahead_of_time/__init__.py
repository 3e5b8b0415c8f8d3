"""`xla conform --runner COMMAND`: the cases of ops, compiled ahead of time into programs that a command runs.

| module | what it does |
|---|---|
| `machine` | builds and runs the program of a module: the backend's files, a C compiler, the command |
| `batches` | joins cases into programs, and divides a program that fails until one case is to blame |
| `command` | chooses the cases, and prints the results |
"""
