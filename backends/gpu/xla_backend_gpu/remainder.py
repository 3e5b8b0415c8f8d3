"""The exact remainder of floats, by integer arithmetic on their mantissas."""

from __future__ import annotations

from xla_core.codegen.llvm import IrBuilder, IrFunction, Value

_FORMATS = {"float": ("i32", 23), "double": ("i64", 52)}
"""Type -> its bits as an integer, and how many of them are the mantissa's."""


def remainder(builder: IrBuilder, x: Value, y: Value) -> Value:
    """Emits C's fmod of two f32 or two f64, without rounding. The module gets the function that computes it once."""
    module, key = builder.module, f"remainder {x.type}"
    if key not in module.helpers:
        parameters = [(x.type, "", "x"), (x.type, "", "y")]
        name = module.symbol(f"remainder_{x.type}")
        function = IrFunction(name, x.type, parameters, prefix="internal", attributes="alwaysinline nounwind")
        module.helpers[key] = module.add_function(function)
        b = IrBuilder(module, function)
        b.ret(_remainder(b, *function.parameters))
    return builder.call(module.helpers[key].name, x.type, [x, y])


def _remainder(b: IrBuilder, x: Value, y: Value) -> Value:
    """Emits the function. It divides the mantissas in 64 bits, several bits of the quotient in each step."""
    bits_type, mantissa_bits = _FORMATS[x.type]
    width = int(bits_type[1:])
    infinity = b.int_(((1 << (width - 1 - mantissa_bits)) - 1) << mantissa_bits, bits_type)
    one = b.int_(1 << mantissa_bits, bits_type)
    x_bits, y_bits = b.bitcast(x, bits_type), b.bitcast(y, bits_type)
    rest = b.int_((1 << (width - 1)) - 1, bits_type)
    left, right = b.and_(x_bits, rest), b.and_(y_bits, rest)  # absolute values

    def parts(value: Value) -> tuple[Value, Value]:
        """Returns the mantissa with its leading bit, in 64 bits, and the exponent.

        A denormal has the exponent of the smallest normal number.
        """
        exponent = b.lshr(value, mantissa_bits)
        fraction = b.and_(value, b.int_((1 << mantissa_bits) - 1, bits_type))
        denormal = b.icmp("eq", exponent, b.int_(0, bits_type))
        mantissa = b.select(denormal, fraction, b.or_(fraction, one))
        return b.cast("zext", mantissa, "i64"), b.select(denormal, b.int_(1, bits_type), exponent)

    (above, high), (below, low) = parts(left), parts(right)
    below = b.intrinsic("umax", below, b.int_(1))  # y = 0 is decided below
    distance = b.cast("zext", b.intrinsic("smax", b.sub(high, low), b.int_(0, bits_type)), "i64")
    step = 63 - mantissa_bits
    loop, (carried,) = b.open_loop(b.int_(0), distance, b.int_(step), [b.urem(above, below)], name="divide")
    shift = b.intrinsic("umin", b.sub(distance, loop.index), b.int_(step))
    (found,) = b.close_loop(loop, [b.urem(b.binary("shl", carried, shift), below)])

    zeros = b.intrinsic("ctlz", b.intrinsic("umax", found, b.int_(1)), b.bool_(False), suffixes=("i64",))
    room = b.sub(zeros, b.int_(63 - mantissa_bits))  # the distance of the leading bit from its normal place
    lowest = b.sub(b.cast("zext", low, "i64"), b.int_(1))
    moved = b.intrinsic("umin", room, lowest)
    exponent = b.shl(b.sub(lowest, moved), mantissa_bits)
    magnitude = b.add(b.binary("shl", found, moved), exponent)  # the leading bit adds 1 to the exponent
    magnitude = b.select(b.icmp("eq", found, b.int_(0)), b.int_(0), magnitude)
    result = b.resize(magnitude, bits_type, signed=False)
    result = b.select(b.icmp("ult", left, right), left, result)
    sign = b.and_(x_bits, b.int_(-1 << (width - 1), bits_type))
    number = b.bitcast(b.or_(result, sign), x.type)
    defined = b.and_(b.icmp("ult", left, infinity), b.icmp("ule", right, infinity))
    defined = b.and_(defined, b.icmp("ne", right, b.int_(0, bits_type)))
    return b.select(defined, number, b.float_(float("nan"), x.type))
