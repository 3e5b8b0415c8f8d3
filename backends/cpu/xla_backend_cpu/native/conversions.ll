; Conversions that LLVM may call by name: where it can prove that a first rounding to float is exact, it joins two into one.

; f64 to f16
define half @__truncdfhf2(double %x) {
  %bits = bitcast double %x to i64
  %top = lshr i64 %bits, 48
  %sign = and i64 %top, 32768
  %abs = and i64 %bits, 9223372036854775807
  ; normal: another exponent bias, then the nearest, ties to even
  %biased = sub i64 %abs, 4539628424389459968
  %kept = lshr i64 %biased, 42
  %even = and i64 %kept, 1
  %half = add i64 %biased, 2199023255551
  %carried = add i64 %half, %even
  %normal = lshr i64 %carried, 42
  ; subnormal: added to a number whose last place is that of the subnormals, 268435456.0
  %absolute = bitcast i64 %abs to double
  %placed = fadd double %absolute, 0x41B0000000000000
  %placed.bits = bitcast double %placed to i64
  %subnormal = sub i64 %placed.bits, 4733283208366391296
  %is.subnormal = icmp ult i64 %abs, 4544132024016830464
  %is.large = icmp uge i64 %abs, 4679237813814689792
  %is.nan = icmp ugt i64 %abs, 9218868437227405312
  %finite = select i1 %is.subnormal, i64 %subnormal, i64 %normal
  %number = select i1 %is.large, i64 31744, i64 %finite
  %magnitude = select i1 %is.nan, i64 32256, i64 %number
  %result = or i64 %magnitude, %sign
  %short = trunc i64 %result to i16
  %value = bitcast i16 %short to half
  ret half %value
}

; f64 to bf16
define bfloat @__truncdfbf2(double %x) {
  %bits = bitcast double %x to i64
  %top = lshr i64 %bits, 48
  %sign = and i64 %top, 32768
  %abs = and i64 %bits, 9223372036854775807
  ; normal: another exponent bias, then the nearest, ties to even
  %biased = sub i64 %abs, 4035225266123964416
  %kept = lshr i64 %biased, 45
  %even = and i64 %kept, 1
  %half = add i64 %biased, 17592186044415
  %carried = add i64 %half, %even
  %normal = lshr i64 %carried, 45
  ; subnormal: added to a number whose last place is that of the subnormals, 4.1359030627651384e-25
  %absolute = bitcast i64 %abs to double
  %placed = fadd double %absolute, 0x3AE0000000000000
  %placed.bits = bitcast double %placed to i64
  %subnormal = sub i64 %placed.bits, 4242390848983007232
  %is.subnormal = icmp ult i64 %abs, 4039728865751334912
  %is.large = icmp uge i64 %abs, 5183625578917396480
  %is.nan = icmp ugt i64 %abs, 9218868437227405312
  %finite = select i1 %is.subnormal, i64 %subnormal, i64 %normal
  %number = select i1 %is.large, i64 32640, i64 %finite
  %magnitude = select i1 %is.nan, i64 32704, i64 %number
  %result = or i64 %magnitude, %sign
  %short = trunc i64 %result to i16
  %value = bitcast i16 %short to bfloat
  ret bfloat %value
}
