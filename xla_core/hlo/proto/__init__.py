"""Serialized HLO: HloModuleProto and HloProto, as TensorFlow's `hlo_serialized` and PyTorch/XLA write them.

`wire` decodes protobuf's wire format, `fields` is the table of field numbers, `values` decodes shapes, literals and
shardings, and `reader` makes the HloModule. The bytes are untrusted input: every error in a message becomes an
InvalidArgumentError.
"""

from xla_core.hlo.proto.reader import is_hlo_proto, parse_hlo_proto

__all__ = ["is_hlo_proto", "parse_hlo_proto"]
