"""`xla conform --runner COMMAND`: the suite's programs, compiled ahead of time into programs that a command runs.

| module | what it does |
|---|---|
| `machine` | builds and runs the program of a module: the backend's files, a C compiler, the command |
| `cases` | the programs of the suite that need no device, and how their results are compared |
| `batches` | joins cases into programs, and divides a program that fails until one case is to blame |
| `command` | runs the cases, and writes the report |
"""
