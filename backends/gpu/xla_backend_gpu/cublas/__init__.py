"""Products by cuBLASLt: which dots become calls of it (`rewriter`), and the calls themselves (`library`).

The modules, from the bottom up: `matmul` has a product as cuBLASLt takes it, as data; `call` the custom call that a
program has for it; `gelu` recognizes an activation; `library` binds cuBLASLt; `find` looks for it on this machine.
"""
