/* What all models that `xla aot` compiles share. */
#ifndef XLA_AOT_H
#define XLA_AOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  XLA_AOT_OK = 0,
  XLA_AOT_WRONG_ARENA = 4 /* the arena is null, or its address is not a multiple of its alignment */
} xla_aot_status;

/* An argument or a result. A complex number is two of the C type, and a number of less than a byte takes a byte. */
typedef struct {
  const char *name;
  const char *type; /* of an element, as in HLO: "f32", "s8", "pred" */
  size_t bytes;
  int rank;
  const int64_t *dimensions; /* `rank` of them */
} xla_aot_array;

/* A kernel, which computes the units of its work from `begin` on and below `end`. */
typedef void (*xla_aot_kernel)(void *const *buffers, int64_t begin, int64_t end);

/* Runs a kernel on all units below `size`, `chunk` of them at a time, on several threads if there are any.
 *
 * Models that are compiled with --threads call it. xla_aot.c defines it with POSIX threads; a program may define its own
 * instead. It returns once all units are computed. */
void xla_cpu_parallel_for(xla_aot_kernel kernel, void *const *buffers, int64_t size, int64_t chunk);

#ifdef __cplusplus
}
#endif

#endif
