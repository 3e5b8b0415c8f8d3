/* libcublasLt without a GPU: the functions that the backend calls, with NVIDIA's names and numbers.
 *
 * It checks each descriptor and each address as strictly as the documentation says, and computes in the memory that the
 * addresses name. A call that it refuses says why on stderr, and in cublaslt_stub_error().
 */

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7, NOT_SUPPORTED = 15 };
enum { F32 = 0, F64 = 1, F16 = 2, S8 = 3, S32 = 10, BF16 = 14, E4M3 = 28, E5M2 = 29 };
enum { COMPUTE_F32 = 68, COMPUTE_F64 = 70, COMPUTE_S32 = 72, COMPUTE_TF32 = 77 };
enum { RELU = 2, BIAS = 4, GELU = 32 };
enum { HANDLE = 0x48414e44, DESCRIPTION = 0x44455343, LAYOUT = 0x4c41594f, PREFERENCE = 0x50524546, GONE = 0xdead };

typedef struct { int kind; } Handle;

typedef struct {
  int kind, compute, scale, transposed[2];
  uint32_t epilogue;
  const void *bias;
} Description;

typedef struct {
  int kind, type, batch;
  uint64_t rows, columns;
  int64_t leading, stride;
} Layout;

typedef struct {
  int kind;
  uint64_t workspace;
  uint32_t reductions, alignments[4]; /* of A, B, C, D */
} Preference;

/* What an algorithm was chosen for, in the 64 bytes of cublasLtMatmulAlgo_t. */
typedef struct {
  uint64_t magic, fingerprint, workspace;
  uint32_t alignments[4];
  uint64_t unused[3];
} Algorithm;

typedef struct {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
} Heuristic;

_Static_assert(sizeof(Algorithm) == 64 && sizeof(Heuristic) == 96, "NVIDIA's sizes");

/* The stub of CUDA's driver has contexts, device memory and streams of its own. */
typedef int (*HasContext)(void);
typedef void *(*Translate)(uint64_t address, uint64_t size);
typedef int (*Enqueue)(void *stream, void *job);

static HasContext has_context;
static Translate translate;
static Enqueue enqueue; /* keeps the job, which a graph may run again */
static char last_error[512];
static long live; /* descriptors that were not destroyed */
static long calls;

void cublaslt_stub_set_hooks(HasContext own_has_context, Translate own_translate, Enqueue own_enqueue) {
  has_context = own_has_context;
  translate = own_translate;
  enqueue = own_enqueue;
}

const char *cublaslt_stub_error(void) { return last_error; }
long cublaslt_stub_live(void) { return live; }
long cublaslt_stub_calls(void) { return calls; }

static int refuse(int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  fprintf(stderr, "stub of cuBLASLt: %s\n", last_error);
  return status;
}

#define REQUIRE(condition, ...) \
  do { \
    if (!(condition)) \
      return refuse(INVALID_VALUE, __VA_ARGS__); \
  } while (0)
#define SUPPORT(condition, ...) \
  do { \
    if (!(condition)) \
      return refuse(NOT_SUPPORTED, __VA_ARGS__); \
  } while (0)

static int is(const void *object, int kind) { return object && *(const int *)object == kind; }

/* -- objects ------------------------------------------------------------------------------------------------------ */

size_t cublasLtGetVersion(void) { return 130000; }

const char *cublasLtGetStatusString(int status) {
  switch (status) {
  case OK: return "success";
  case NOT_INITIALIZED: return "the library was not initialized";
  case ALLOC_FAILED: return "the resource allocation failed";
  case INVALID_VALUE: return "an invalid value was given";
  case NOT_SUPPORTED: return "the requested functionality is not supported";
  }
  return "an unknown status";
}

static void *create(size_t size, int kind) {
  int *made = calloc(1, size);
  *made = kind;
  live++;
  return made;
}

static int destroy(void *object, int kind) {
  REQUIRE(is(object, kind), "destroys what is no live object of its kind");
  *(int *)object = GONE;
  live--;
  free(object);
  return OK;
}

int cublasLtCreate(void **handle) {
  if (has_context && !has_context())
    return refuse(NOT_INITIALIZED, "no context is current");
  *handle = create(sizeof(Handle), HANDLE);
  return OK;
}
int cublasLtDestroy(void *handle) { return destroy(handle, HANDLE); }

int cublasLtMatmulDescCreate(void **made, int compute, int scale) {
  int scale_of_compute = compute == COMPUTE_F64 ? F64 : compute == COMPUTE_S32 ? S32 : F32;
  REQUIRE(compute == COMPUTE_F32 || compute == COMPUTE_F64 || compute == COMPUTE_S32 || compute == COMPUTE_TF32,
          "there is no compute type %d", compute);
  REQUIRE(scale == scale_of_compute, "compute type %d has no scale type %d", compute, scale);
  Description *description = *made = create(sizeof(Description), DESCRIPTION);
  description->compute = compute, description->scale = scale, description->epilogue = 1;
  return OK;
}
int cublasLtMatmulDescDestroy(void *description) { return destroy(description, DESCRIPTION); }

int cublasLtMatrixLayoutCreate(void **made, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  Layout *layout = *made = create(sizeof(Layout), LAYOUT);
  layout->type = type, layout->rows = rows, layout->columns = columns, layout->leading = leading, layout->batch = 1;
  return OK;
}
int cublasLtMatrixLayoutDestroy(void *layout) { return destroy(layout, LAYOUT); }

int cublasLtMatmulPreferenceCreate(void **made) {
  Preference *preference = *made = create(sizeof(Preference), PREFERENCE);
  preference->reductions = 7;
  for (int n = 0; n < 4; n++)
    preference->alignments[n] = 256;
  return OK;
}
int cublasLtMatmulPreferenceDestroy(void *preference) { return destroy(preference, PREFERENCE); }

static int set(void *target, size_t own_size, const void *value, size_t size, int attribute) {
  REQUIRE(value && size == own_size, "attribute %d has %zu bytes, not %zu", attribute, own_size, size);
  memcpy(target, value, size);
  return OK;
}

int cublasLtMatmulDescSetAttribute(void *object, int attribute, const void *value, size_t size) {
  REQUIRE(is(object, DESCRIPTION), "this is no live description of a product");
  Description *description = object;
  switch (attribute) {
  case 3: return set(&description->transposed[0], sizeof(int32_t), value, size, attribute);
  case 4: return set(&description->transposed[1], sizeof(int32_t), value, size, attribute);
  case 7: return set(&description->epilogue, sizeof(uint32_t), value, size, attribute);
  case 8: return set(&description->bias, sizeof(void *), value, size, attribute);
  }
  return refuse(INVALID_VALUE, "the stub has no attribute %d of a product", attribute);
}

int cublasLtMatrixLayoutSetAttribute(void *object, int attribute, const void *value, size_t size) {
  REQUIRE(is(object, LAYOUT), "this is no live layout");
  Layout *layout = object;
  switch (attribute) {
  case 5: return set(&layout->batch, sizeof(int32_t), value, size, attribute);
  case 6: return set(&layout->stride, sizeof(int64_t), value, size, attribute);
  }
  return refuse(INVALID_VALUE, "the stub has no attribute %d of a layout", attribute);
}

int cublasLtMatmulPreferenceSetAttribute(void *object, int attribute, const void *value, size_t size) {
  REQUIRE(is(object, PREFERENCE), "this is no live preference");
  Preference *preference = object;
  if (attribute == 1)
    return set(&preference->workspace, sizeof(uint64_t), value, size, attribute);
  if (attribute == 3)
    return set(&preference->reductions, sizeof(uint32_t), value, size, attribute);
  if (attribute >= 5 && attribute <= 8)
    return set(&preference->alignments[attribute - 5], sizeof(uint32_t), value, size, attribute);
  return refuse(INVALID_VALUE, "the stub has no attribute %d of a preference", attribute);
}

/* -- checks ------------------------------------------------------------------------------------------------------- */

static int width(int type) {
  switch (type) {
  case F64: return 8;
  case F32: case S32: return 4;
  case F16: case BF16: return 2;
  case S8: case E4M3: case E5M2: return 1;
  }
  return 0;
}

static int is_f8(int type) { return type == E4M3 || type == E5M2; }

/* The elements from the first one to the end of the last one. */
static uint64_t extent(const Layout *m) {
  return (m->batch - 1) * m->stride + (m->columns - 1) * m->leading + m->rows;
}

/* Whether the types are in the library's table, and an epilogue of a bias is there for them. */
static int check_types(const Description *d, const Layout *a, const Layout *b, const Layout *to) {
  int x = a->type, y = b->type, z = to->type;
  uint32_t e = d->epilogue;
  SUPPORT(e == 1 || e == RELU || e == BIAS || e == (RELU | BIAS) || e == GELU || e == (GELU | BIAS), "epilogue %u", e);
  if (is_f8(x) && is_f8(y)) {
    SUPPORT(d->compute == COMPUTE_F32 && (x == E4M3 || y == E4M3), "two matrices of E5M2, or no sums of F32");
    SUPPORT(z == F32 || z == F16 || z == BF16, "a product of 8-bit floats has no type %d", z);
    SUPPORT(!(e & BIAS) || z != F32, "the bias of 8-bit floats is of 16 bits");
    return OK;
  }
  SUPPORT(x == y, "types %d and %d", x, y);
  if (x == S8) {
    SUPPORT(d->compute == COMPUTE_S32 && z == S32 && e == 1, "integers have sums of S32 and no epilogue");
  } else if (x == F64) {
    SUPPORT(d->compute == COMPUTE_F64 && z == F64 && !(e & GELU), "F64 has sums of F64, and no GELU");
  } else if (x == F32) {
    SUPPORT((d->compute == COMPUTE_F32 || d->compute == COMPUTE_TF32) && z == F32, "F32 has sums of F32");
  } else {
    SUPPORT(d->compute == COMPUTE_F32 && (z == x || z == F32) && (x == F16 || x == BF16), "type %d to %d", x, z);
  }
  return OK;
}

/* 8-bit kernels: sizes and leading dimensions are multiples, and the terms are neighbours in both matrices. */
static int check_alignment(const Description *d, const Layout *a, const Layout *b, const Layout *to) {
  uint64_t by = is_f8(a->type) ? 16 : a->type == S8 ? 4 : 1;
  if (by == 1)
    return OK;
  SUPPORT(d->transposed[0] && !d->transposed[1], "8-bit products are TN");
  SUPPORT(to->rows % by == 0 && a->rows % by == 0, "8-bit products have multiples of %d rows and terms", (int)by);
  SUPPORT(a->leading % by == 0 && b->leading % by == 0 && to->leading % by == 0, "8-bit leading dimensions");
  SUPPORT(!is_f8(a->type) || to->columns % by == 0, "8-bit floats have multiples of 16 columns");
  return OK;
}

static int check_product(const Description *d, const Layout *const *m) {
  REQUIRE(is(d, DESCRIPTION), "this is no live description of a product");
  for (int n = 0; n < 4; n++) {
    REQUIRE(is(m[n], LAYOUT), "the layout of %c is not alive", "ABCD"[n]);
    REQUIRE(width(m[n]->type), "there is no type %d", m[n]->type);
    REQUIRE(m[n]->rows && m[n]->columns && m[n]->batch > 0, "the matrix %c is empty", "ABCD"[n]);
    REQUIRE(m[n]->leading >= (int64_t)m[n]->rows, "the leading dimension of %c is %lld for %llu rows", "ABCD"[n],
            (long long)m[n]->leading, (unsigned long long)m[n]->rows);
    REQUIRE(m[n]->batch == m[3]->batch, "the batches of %c and D differ", "ABCD"[n]);
    REQUIRE(m[n]->batch == 1 || m[n]->stride > 0, "the matrices %c of the batch are one", "ABCD"[n]);
  }
  const Layout *a = m[0], *b = m[1], *c = m[2], *to = m[3];
  uint64_t rows = d->transposed[0] ? a->columns : a->rows, terms = d->transposed[0] ? a->rows : a->columns;
  uint64_t own_terms = d->transposed[1] ? b->columns : b->rows, columns = d->transposed[1] ? b->rows : b->columns;
  REQUIRE(rows == to->rows && columns == to->columns && terms == own_terms, "%llu x %llu by %llu x %llu is no %llu x %llu",
          (unsigned long long)rows, (unsigned long long)terms, (unsigned long long)own_terms,
          (unsigned long long)columns, (unsigned long long)to->rows, (unsigned long long)to->columns);
  REQUIRE(c->rows == to->rows && c->columns == to->columns && c->type == to->type, "C is no matrix like D");
  int status = check_types(d, a, b, to);
  return status ? status : check_alignment(d, a, b, to);
}

static uint64_t fingerprint(const Description *d, const Layout *const *m) {
  uint64_t hash = 14695981039346656037u;
  uint64_t words[4 + 4 * 6] = {d->compute, d->transposed[0], d->transposed[1], d->epilogue};
  for (int n = 0; n < 4; n++) {
    uint64_t own[6] = {m[n]->type, m[n]->rows, m[n]->columns, m[n]->leading, m[n]->batch, m[n]->stride};
    memcpy(words + 4 + 6 * n, own, sizeof own);
  }
  for (size_t n = 0; n < sizeof words / sizeof *words; n++)
    hash = (hash ^ words[n]) * 1099511628211u;
  return hash;
}

/* An algorithm for long sums needs scratch memory, if it may have any. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *description, void *a, void *b, void *c, void *to, void *object,
                                   int wanted, Heuristic *found, int *count) {
  const Layout *m[4] = {a, b, c, to};
  Preference *preference = object;
  REQUIRE(is(handle, HANDLE), "this is no live handle");
  REQUIRE(is(preference, PREFERENCE), "this is no live preference");
  REQUIRE(wanted >= 1 && found && count, "no place for the results");
  REQUIRE(!has_context || has_context(), "no context is current");
  const char *failure = getenv("XLA_TEST_CUBLAS_HEURISTIC"); /* the status, as a test wants it */
  if (failure)
    return refuse(atoi(failure), "the test wants this status");
  *count = 0;
  int status = check_product(description, m);
  if (status)
    return status;
  Description *d = description;
  REQUIRE(!(d->epilogue & BIAS) || ((uintptr_t)d->bias && (uintptr_t)d->bias % 16 == 0), "no aligned bias");
  SUPPORT(preference->reductions & 2, "long sums need partial sums in their own type");
  uint64_t terms = d->transposed[0] ? m[0]->rows : m[0]->columns;
  uint64_t needed = terms >= 64 && preference->workspace >= 4096 ? 4096 : 0;
  memset(found, 0, sizeof *found);
  found->algorithm.magic = 0xA160, found->algorithm.fingerprint = fingerprint(d, m);
  found->algorithm.workspace = found->workspace = needed;
  for (int n = 0; n < 4; n++) {
    REQUIRE(preference->alignments[n] >= (uint32_t)width(m[n]->type), "an alignment below that of elements");
    found->algorithm.alignments[n] = preference->alignments[n];
  }
  *count = 1;
  return OK;
}

/* -- numbers ------------------------------------------------------------------------------------------------------ */

static double from_small(unsigned bits, int exponent_bits, int mantissa_bits, int has_infinity) {
  int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1;
  unsigned sign = bits >> (exponent_bits + mantissa_bits) & 1, mantissa = bits & ((1u << mantissa_bits) - 1);
  int exponent = bits >> mantissa_bits & top;
  double value;
  if (exponent == top && has_infinity)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == top && mantissa == (1u << mantissa_bits) - 1 && !has_infinity)
    value = NAN;
  else if (exponent)
    value = ldexp(1 + ldexp(mantissa, -mantissa_bits), exponent - bias);
  else
    value = ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign ? -value : value;
}

static double load(const void *base, uint64_t at, int type) {
  switch (type) {
  case F64: return ((const double *)base)[at];
  case F32: return ((const float *)base)[at];
  case S32: return ((const int32_t *)base)[at];
  case S8: return ((const int8_t *)base)[at];
  case F16: return from_small(((const uint16_t *)base)[at], 5, 10, 1);
  case BF16: return from_small(((const uint16_t *)base)[at], 8, 7, 1);
  case E4M3: return from_small(((const uint8_t *)base)[at], 4, 3, 0);
  }
  return from_small(((const uint8_t *)base)[at], 5, 2, 1);
}

/* Rounds a number to a format of 16 bits, to the nearest, ties to even. */
static uint16_t to_small(double value, int exponent_bits, int mantissa_bits) {
  int bias = (1 << (exponent_bits - 1)) - 1, top = (1 << exponent_bits) - 1, exponent;
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (isnan(value))
    return sign | top << mantissa_bits | 1 << (mantissa_bits - 1);
  if (size == 0)
    return sign;
  if (isinf(value))
    return sign | top << mantissa_bits;
  frexp(size, &exponent);
  exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  double units = nearbyint(ldexp(size, mantissa_bits - exponent));
  uint32_t bits = (uint32_t)units + ((uint32_t)(exponent + bias - 1) << mantissa_bits);
  return sign | (bits > (uint32_t)top << mantissa_bits ? (uint32_t)top << mantissa_bits : bits);
}

static void store(void *base, uint64_t at, int type, double value) {
  switch (type) {
  case F64: ((double *)base)[at] = value; break;
  case F32: ((float *)base)[at] = (float)value; break;
  case S32: ((int32_t *)base)[at] = (int32_t)(uint32_t)(int64_t)value; break;
  case F16: ((uint16_t *)base)[at] = to_small(value, 5, 10); break;
  case BF16: ((uint16_t *)base)[at] = to_small(value, 8, 7); break;
  }
}

static double to_tf32(double value) {
  int exponent;
  if (value == 0 || !isfinite(value))
    return value;
  frexp(value, &exponent);
  return ldexp(nearbyint(ldexp(value, 11 - exponent)), exponent - 11);
}

/* -- the product -------------------------------------------------------------------------------------------------- */

typedef struct {
  Description description;
  Layout layouts[4];
  uint64_t addresses[4], bias, scratch, scratch_size;
  double alpha, beta;
} Job;

static double finish(const Job *job, double value, const void *bias, uint64_t row) {
  uint32_t epilogue = job->description.epilogue;
  if (epilogue & BIAS)
    value += load(bias, row, job->layouts[3].type);
  if (epilogue & RELU)
    value = value > 0 ? value : 0;
  if (epilogue & GELU)
    value = 0.5 * value * (1 + tanh(sqrt(2 / M_PI) * (value + 0.044715 * value * value * value)));
  return value;
}

static void *place(uint64_t address, uint64_t size) {
  return translate ? translate(address, size) : (void *)(uintptr_t)address;
}

void cublaslt_stub_run(void *data) {
  Job *job = data;
  Layout *a = &job->layouts[0], *b = &job->layouts[1], *to = &job->layouts[3];
  void *memory[4], *bias = 0;
  for (int n = 0; n < 4; n++)
    memory[n] = place(job->addresses[n], extent(&job->layouts[n]) * width(job->layouts[n].type));
  if (job->description.epilogue & BIAS)
    bias = place(job->bias, to->rows * width(to->type));
  if (job->scratch_size)
    memset(place(job->scratch, job->scratch_size), 0xA5, job->scratch_size);
  uint64_t terms = job->description.transposed[0] ? a->rows : a->columns;
  int tf32 = job->description.compute == COMPUTE_TF32;
  for (int n = 0; n < to->batch; n++)
    for (uint64_t column = 0; column < to->columns; column++)
      for (uint64_t row = 0; row < to->rows; row++) {
        double total = 0;
        for (uint64_t k = 0; k < terms; k++) {
          uint64_t in_a = job->description.transposed[0] ? row * a->leading + k : k * a->leading + row;
          uint64_t in_b = job->description.transposed[1] ? k * b->leading + column : column * b->leading + k;
          double x = load(memory[0], n * a->stride + in_a, a->type), y = load(memory[1], n * b->stride + in_b, b->type);
          total += tf32 ? to_tf32(x) * to_tf32(y) : x * y;
        }
        uint64_t at = n * to->stride + column * to->leading + row;
        double value = job->alpha * total;
        if (job->beta != 0)
          value += job->beta * load(memory[2], n * job->layouts[2].stride + column * job->layouts[2].leading + row,
                                    job->layouts[2].type);
        store(memory[3], at, to->type, finish(job, value, bias, row));
      }
  calls++;
  if (!enqueue)
    free(job);
}

/* D's elements are different places, and none is in what is read. */
static int check_result(const Job *job, const void *const *memory) {
  const Layout *to = &job->layouts[3];
  uint64_t elements = extent(to);
  unsigned char *seen = calloc(elements, 1);
  int twice = 0;
  for (int n = 0; n < to->batch; n++)
    for (uint64_t column = 0; column < to->columns; column++)
      for (uint64_t row = 0; row < to->rows; row++)
        twice |= seen[n * to->stride + column * to->leading + row]++;
  free(seen);
  REQUIRE(!twice, "elements of D have the same place");
  uint64_t start = (uintptr_t)memory[3], end = start + elements * width(to->type);
  for (int n = 0; n < 3; n++) {
    uint64_t first = (uintptr_t)memory[n], last = first + extent(&job->layouts[n]) * width(job->layouts[n].type);
    int same = n == 2 && memory[2] == memory[3] && !memcmp(&job->layouts[2], to, sizeof *to);
    REQUIRE(same || end <= first || last <= start, "D overlaps %c", "ABC"[n]);
  }
  uint64_t first = job->scratch, last = first + job->scratch_size;
  REQUIRE(!job->scratch_size || end <= first || last <= start, "D overlaps the scratch memory");
  return OK;
}

static double scalar(const void *value, int type) { return load(value, 0, type); }

int cublasLtMatmul(void *handle, void *description, const void *alpha, const void *a, void *a_layout, const void *b,
                   void *b_layout, const void *beta, const void *c, void *c_layout, void *to, void *to_layout,
                   const Algorithm *algorithm, void *scratch, size_t scratch_size, void *stream) {
  const Layout *m[4] = {a_layout, b_layout, c_layout, to_layout};
  const void *memory[4] = {a, b, c, to};
  REQUIRE(is(handle, HANDLE), "this is no live handle");
  REQUIRE(!has_context || has_context(), "no context is current");
  int status = check_product(description, m);
  if (status)
    return status;
  Description *d = description;
  REQUIRE(alpha && beta, "alpha or beta is missing");
  REQUIRE(algorithm && algorithm->magic == 0xA160, "the algorithm is none of the stub's");
  REQUIRE(algorithm->fingerprint == fingerprint(d, m), "the algorithm was chosen for another product");
  for (int n = 0; n < 4; n++) {
    REQUIRE(memory[n], "the address of %c is null", "ABCD"[n]);
    REQUIRE((uintptr_t)memory[n] % algorithm->alignments[n] == 0, "the address of %c is no multiple of %u", "ABCD"[n],
            algorithm->alignments[n]);
  }
  REQUIRE(!algorithm->workspace || scratch, "the scratch memory is null");
  REQUIRE(scratch_size >= algorithm->workspace, "the scratch memory has %zu bytes of %llu", scratch_size,
          (unsigned long long)algorithm->workspace);
  REQUIRE((uintptr_t)scratch % 16 == 0, "the scratch memory is no multiple of 16");
  REQUIRE(!(d->epilogue & BIAS) || (d->bias && (uintptr_t)d->bias % 16 == 0), "the bias is null or misaligned");
  Job *job = malloc(sizeof *job);
  *job = (Job){.description = *d, .bias = (uintptr_t)d->bias, .scratch = (uintptr_t)scratch};
  for (int n = 0; n < 4; n++)
    job->layouts[n] = *m[n], job->addresses[n] = (uintptr_t)memory[n];
  job->scratch_size = scratch ? scratch_size : 0;
  job->alpha = scalar(alpha, d->scale), job->beta = scalar(beta, d->scale);
  status = check_result(job, memory);
  if (status)
    return free(job), status;
  if (enqueue)
    return enqueue(stream, job);
  cublaslt_stub_run(job);
  return OK;
}
