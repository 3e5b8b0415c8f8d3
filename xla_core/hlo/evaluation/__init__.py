"""The state of an evaluation: `evaluation_context`, and the `environment` of channels, feeds and other replicas.
`dynamic_shape_program` and the modules that it uses are for programs whose sizes depend on their arguments.
"""
