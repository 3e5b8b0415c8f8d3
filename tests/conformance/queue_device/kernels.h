/* The device's kernels: each computes one op over strided operands, row by row. `kernels.py` chooses them by their names. */
#include "faults.h"
#include <math.h>
#include <stdint.h>

enum { OPERANDS = 4 }; /* a destination, and a, b and c */

typedef void kernel(char *const *starts, const int64_t *steps, int64_t count); /* computes a row */
typedef struct { int64_t extent, steps[OPERANDS]; } dimension; /* steps in bytes: 0 where an operand is broadcast */
typedef struct { kernel *kernel; int64_t rank; char *starts[OPERANDS]; dimension dimensions[]; } launch;

static float flushed(double x) {
    return faulty(FLUSHES_DENORMALS) && fabsf((float)x) < 0x1p-126f ? copysignf(0, (float)x) : (float)x;
}
static double larger(double x, double y) { /* of two zeros +0, with a NaN NaN */
    if (faulty(MAXIMUM_IGNORES_NAN)) return fmax(x, y);
    return isnan(x) || isnan(y) ? NAN : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}
static int32_t nearest(double x) { /* what does not fit becomes the limit, NaN 0 */
    if (faulty(CONVERTS_OUT_OF_RANGE)) return x >= INT32_MIN && x <= INT32_MAX ? (int32_t)x : INT32_MIN;
    return isnan(x) ? 0 : x >= INT32_MAX ? INT32_MAX : x <= INT32_MIN ? INT32_MIN : (int32_t)x;
}
static int64_t limited(int64_t x) { return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x; }
static int64_t quotient(int64_t x, int64_t y) {
    if (!y) return faulty(DIVIDES_BY_ZERO) ? 0 : -1;
    return faulty(DIVIDES_SATURATING) ? limited(x / y) : x / y;
}
static int64_t rest(int64_t x, int64_t y) {
    if (!y) return x;
    return faulty(REMAINDER_FLOORS) && x % y && (x < 0) != (y < 0) ? x % y + y : x % y;
}
static uint64_t amount(int64_t y) { return faulty(SHIFT_IS_CUT) ? y & 31 : (uint64_t)y; } /* a negative one is beyond 31 */

/* One line an op: its expression of a, b and c. K takes the kernel's name, the types of the result and of the computation,
 * those of a and of b and c in memory, and the expression. */
#define F32(K, name, x) K(name##_f32, float, float, float, float, flushed(x))
#define S32(K, name, x) K(name##_s32, int32_t, int64_t, int32_t, int32_t, (uint32_t)(x))
#define PRED(K, name, x) K(name##_pred, uint8_t, int, uint8_t, uint8_t, x)
#define COMPARISONS(K, name, type) \
    K(EQ_##name, uint8_t, type, type, type, a == b) K(NE_##name, uint8_t, type, type, type, a != b) \
    K(LT_##name, uint8_t, type, type, type, a < b) K(LE_##name, uint8_t, type, type, type, a <= b) \
    K(GT_##name, uint8_t, type, type, type, a > b) K(GE_##name, uint8_t, type, type, type, a >= b)
#define MOVES(K, width, type) K(copy_##width, type, type, type, type, a) K(select_##width, type, type, uint8_t, type, a ? b : c)
#define CONVERSIONS(K, name, type) \
    K(convert_##name##_f32, float, type, type, type, a) K(convert_##name##_pred, uint8_t, type, type, type, a != 0) \
    K(convert_##name##_s32, int32_t, type, type, type, nearest(a))
#define KERNELS(K) \
    F32(K, add, a + b) F32(K, subtract, a - b) F32(K, multiply, a * b) F32(K, multiply_add, c + a * b) F32(K, divide, a / b) \
    F32(K, remainder, fmod(a, b)) F32(K, maximum, larger(a, b)) F32(K, minimum, -larger(-a, -b)) F32(K, abs, fabs(a)) \
    F32(K, negate, faulty(NEGATE_LOSES_ZERO) ? 0 - a : -a) F32(K, floor, floor(a)) F32(K, ceil, ceil(a)) F32(K, sqrt, sqrt(a)) \
    F32(K, exponential, faulty(EXP_OVERFLOWS_EARLY) && a > 88 ? INFINITY : exp(a)) F32(K, log, log(a)) \
    F32(K, power, faulty(POWER_BY_LOGARITHM) && a < 0 ? NAN : pow(a, b)) F32(K, sine, sin(a)) F32(K, cosine, cos(a)) \
    F32(K, tanh, faulty(TANH_OVERWRITES) ? (*(float *)at[1] = tanh(a)) : tanh(a)) \
    S32(K, add, faulty(ADD_SATURATES) ? limited(a + b) : a + b) S32(K, subtract, a - b) S32(K, multiply, a * b) \
    S32(K, multiply_add, c + a * b) S32(K, divide, quotient(a, b)) S32(K, remainder, rest(a, b)) S32(K, negate, -a) \
    S32(K, maximum, a > b ? a : b) S32(K, minimum, a < b ? a : b) S32(K, abs, a < 0 ? -a : a) \
    S32(K, and, a & b) S32(K, or, a | b) S32(K, xor, a ^ b) S32(K, not, ~a) \
    S32(K, shift_left, amount(b) < 32 ? (uint64_t)a << amount(b) : 0) \
    S32(K, shift_right_logical, (uint64_t)b < 32 ? (uint32_t)a >> b : 0) \
    S32(K, shift_right_arithmetic, a >> ((uint64_t)b < 32 ? b : 31)) \
    PRED(K, and, a & b) PRED(K, or, a | b) PRED(K, xor, a ^ b) PRED(K, not, !a) \
    COMPARISONS(K, f32, float) COMPARISONS(K, s32, int32_t) COMPARISONS(K, pred, uint8_t) \
    CONVERSIONS(K, f32, float) CONVERSIONS(K, s32, int32_t) CONVERSIONS(K, pred, uint8_t) MOVES(K, 4, uint32_t) MOVES(K, 1, uint8_t)

#define ROW(name, element) \
    static void name(char *const *starts, const int64_t *steps, int64_t count) { \
        char *at[OPERANDS]; \
        memcpy(at, starts, sizeof at); \
        for (; count > 0; count--) { \
            element; \
            for (int i = 0; i < OPERANDS; i++) at[i] += steps[i]; \
        } \
    }
#define DEFINE(name, result, type, first, others, x) \
    ROW(name, type a = *(first *)at[1]; type b = *(others *)at[2]; type c = *(others *)at[3]; \
        (void)a; (void)b; (void)c; *(result *)at[0] = (result)(x))
#define ENTRY(name, ...) {#name, name},
KERNELS(DEFINE)
ROW(iota_f32, *(float *)at[0] = (float)(int64_t)at[1]) /* its operand begins at address 0: the address is the index */
ROW(iota_s32, *(int32_t *)at[0] = (int32_t)(int64_t)at[1])
static const struct { const char *name; kernel *function; } kernels[] = {KERNELS(ENTRY) ENTRY(iota_f32) ENTRY(iota_s32)};

kernel *qd_kernel(const char *name) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (!strcmp(kernels[i].name, name)) return kernels[i].function;
    return NULL;
}

static int64_t compute(kernel *row, int64_t rank, const dimension *d, char *const *starts, int64_t left) { /* returns what is left */
    char *at[OPERANDS];
    int64_t count = d->extent < left ? d->extent : left;
    if (rank == 1) { row(starts, d->steps, count); return left - count; }
    memcpy(at, starts, sizeof at);
    for (int64_t n = 0; n < d->extent && left; n++) {
        left = compute(row, rank - 1, d + 1, at, left);
        for (int i = 0; i < OPERANDS; i++) at[i] += d->steps[i];
    }
    return left;
}

static void run(launch *l) {
    int64_t count = 1;
    const dimension *outer = l->dimensions, *inner = outer + l->rank - 1;
    for (const dimension *d = outer; d <= inner; d++) count *= d->extent;
    if (faulty(COUNTS_IN_16_BITS) && count > 1 << 16) count = 1 << 16;
    if (faulty(DROPS_THE_TAIL) && count > 4096) count = count / 16 * 16;
    for (int i = 1; i < OPERANDS && faulty(STRIDE_IS_SHORT) && l->rank > 2 && inner->extent % 2 && outer->extent > 4; i++)
        if (outer->steps[i] > 256) l->starts[i] += 4;
    compute(l->kernel, l->rank, outer, l->starts, count);
}
