"""What an evaluation runs in: `evaluation_context` and the `environment` of channels, feeds and other replicas.

`dynamic_shape_program` and its modules are for programs whose sizes are known when their arguments are.
"""
