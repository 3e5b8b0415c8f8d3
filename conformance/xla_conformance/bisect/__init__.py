"""`xla bisect`: finds the pass, or the instruction of the device, that makes a program's results wrong.

`passes` runs the reference evaluator on the module after each pass. `instructions` runs each instruction of the
optimized module alone on the device, on the device's own inputs. `device_process` compiles and runs them in a process
of its own, so that a crash is a finding. `programs` builds the programs of one instruction that it runs. `reduction`
makes the program of a wrong instruction smaller, `shrinking` the whole program. `composites` keeps the meaning of
composites that the target runs itself. `command` is the command.
"""
