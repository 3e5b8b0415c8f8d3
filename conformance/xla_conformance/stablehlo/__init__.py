"""Runs StableHLO's own test files: `xla conform --stablehlo-tests DIR`.

| module | what it does |
|---|---|
| `suite` | splits files into cases, runs a case and judges it |
| `program` | runs one function of a file, with its checks |
| `instruments`, `recording` | replace ops that look at values (`check.*`, probes, prints) by records of these values |
| `parallel` | runs `interpreter.run_parallel`: several programs at the same time |
| `checks` | the comparisons of the `check` dialect |
| `functions` | runs functions without checks and compares them with the evaluator |
| `proof` | shows that a file itself is wrong, where its expected values can't be right |
| `trees` | compares two modules, for portable artifacts |
| `report` | tables by folder and by op |
"""
