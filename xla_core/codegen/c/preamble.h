
/* XLA_PLAIN_C leaves out what standard C doesn't have. */
#if defined(__GNUC__) && !defined(XLA_PLAIN_C)
#define XLA_GNU 1
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between functions of this file alone */
#define XLA_VECTORS 1
#define XLA_LANE(v, i) (v)[i]
#define XLA_VECTOR(...) {__VA_ARGS__}
#define XLA_NOINLINE __attribute__((noinline))
#define XLA_ALIGNED(n) __attribute__((aligned(n)))
#define XLA_PREFETCH(p) __builtin_prefetch(p)
#define XLA_UNREACHABLE __builtin_unreachable()
#else
#define XLA_LANE(v, i) (v).e[i]
#define XLA_VECTOR(...) {{__VA_ARGS__}}
#define XLA_NOINLINE
#define XLA_ALIGNED(n) _Alignas(n)
#define XLA_PREFETCH(p) ((void)(p))
#define XLA_UNREACHABLE ((void)0)
#endif
#if defined(XLA_GNU) && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define XLA_SHUFFLES 1
#endif
#endif
#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 xla_u128;
__extension__ typedef __int128 xla_s128;
#endif
/* A product and a sum are rounded twice. GCC takes this from its options alone. */
#if defined(__clang__) || !defined(__GNUC__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off", "no-math-errno", "no-trapping-math")
#endif
