/* A device with memory of its own, and a queue of commands and a thread for each stream: what a vendor's driver offers.
 *
 * Addresses are offsets in the device's memory, so arithmetic on them is allowed. A command that fails leaves a number in
 * its stream; the stream then skips commands until it reaches a RECOVER. QUEUE_DEVICE_FAULT names a fault to switch on.
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OUTSIDE_MEMORY = -1, BASE = 4096, ALIGNMENT = 64, OPERANDS = 4, RANK = 6 };
enum { F32, S32, PRED };
enum { H2D, D2H, D2D, FILL, LAUNCH, CALLBACK, RECORD, WAIT, RECOVER };
enum { COPY, SELECT, IOTA, CONVERT, ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, MAXIMUM, MINIMUM, POWER, MULTIPLY_ADD,
       AND, OR, XOR, SHIFT_LEFT, SHIFT_RIGHT_LOGICAL, SHIFT_RIGHT_ARITHMETIC, EQ, NE, LT, LE, GT, GE,
       NEGATE, ABS, NOT, FLOOR, CEIL, SQRT, EXP, LOG, TANH, SIN, COS };

typedef struct block { struct block *next; uint64_t start, size; int used; } block;
typedef struct { pthread_mutex_t lock; char *bytes; uint64_t size; block *blocks; } device;
typedef struct { int references, ready; int64_t error; } point;  /* one record of an event */
typedef struct { point *last; } event;
typedef struct {  /* to[...] = op(a[...], b[...], c[...]) for each index; strides and offsets count elements */
    int32_t op, rank, types[OPERANDS];
    int64_t extents[RANK], strides[OPERANDS][RANK], offsets[OPERANDS];
    uint64_t addresses[OPERANDS];
} launch;
typedef struct command {
    struct command *next;
    int kind, value;
    uint64_t to, from, size;
    void *host;
    point *point;
    int64_t (*callback)(void);
    launch launch;
} command;
typedef struct {
    device *device;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    command *first, *last;
    int64_t error, done;
    int closing, waiting;
    unsigned char records;
} stream;

static pthread_mutex_t points = PTHREAD_MUTEX_INITIALIZER, callbacks = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reached = PTHREAD_COND_INITIALIZER;

static int fault(const char *name) {
    static const char *on;
    if (!on) on = getenv("QUEUE_DEVICE_FAULT") ? getenv("QUEUE_DEVICE_FAULT") : "";
    return *on && !strcmp(on, name);
}

static int once_in_twenty(const char *name) {
    static int count;
    return fault(name) && ++count % 20 == 0;
}

/* -- memory ---------------------------------------------------------------------------------------------------------- */

device *device_open(uint64_t size) {
    if (fault("open-aborts")) abort();
    if (fault("open-hangs")) sleep(1000);
    device *d = calloc(1, sizeof *d);
    pthread_mutex_init(&d->lock, NULL);
    d->size = size;
    d->bytes = malloc(BASE + size);
    d->blocks = calloc(1, sizeof *d->blocks);
    *d->blocks = (block){.start = BASE, .size = size};
    return d;
}

uint64_t device_allocate(device *d, uint64_t size) {  /* 0 where there is no room */
    uint64_t found = 0, wanted = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (fault("overlap") && size > 1 << 20) wanted -= ALIGNMENT;
    pthread_mutex_lock(&d->lock);
    for (block *b = d->blocks; b && !found; b = b->next) {
        if (b->used || b->size < wanted) continue;
        if (b->size > wanted) {
            block *rest = malloc(sizeof *rest);
            *rest = (block){b->next, b->start + wanted, b->size - wanted, 0};
            b->next = rest;
            b->size = wanted;
        }
        b->used = 1;
        found = b->start;
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

void device_free(device *d, uint64_t start) {
    if (fault("free-does-nothing") || once_in_twenty("free-forgets")) return;
    pthread_mutex_lock(&d->lock);
    for (block *b = d->blocks; b; b = b->next)
        if (b->start == start && b->used) { b->used = 0; break; }
    for (block *b = d->blocks; b->next;) {  /* joins neighbours that are free */
        block *next = b->next;
        if (b->used || next->used) { b = next; continue; }
        b->size += next->size;
        b->next = next->next;
        free(next);
    }
    pthread_mutex_unlock(&d->lock);
}

uint64_t device_memory(device *d) { return fault("memory-lies") ? d->size * 1000 : d->size; }

void device_close(device *d) {
    for (block *b = d->blocks, *next; b; b = next) { next = b->next; free(b); }
    free(d->bytes);
    free(d);
}

/* -- kernels --------------------------------------------------------------------------------------------------------- */

static double load_real(int type, const void *p) { return type == F32 ? *(const float *)p : *(const int32_t *)p; }
static int64_t load_integer(int type, const void *p) { return type == PRED ? *(const uint8_t *)p : *(const int32_t *)p; }

static void store_real(int type, void *p, double x) {  /* what does not fit an integer becomes its limit, NaN 0 */
    if (type == F32) {
        *(float *)p = (float)x;
        if (fault("flushes-denormals") && fabsf(*(float *)p) < 0x1p-126f) *(float *)p = copysignf(0, (float)x);
    } else if (type == PRED) *(uint8_t *)p = x != 0;
    else if (fault("converts-out-of-range")) *(int32_t *)p = x >= INT32_MIN && x <= INT32_MAX ? (int32_t)x : INT32_MIN;
    else *(int32_t *)p = x != x ? 0 : x >= INT32_MAX ? INT32_MAX : x <= INT32_MIN ? INT32_MIN : (int32_t)x;
}

static void store_integer(int type, void *p, int64_t x) {
    if (type == F32) *(float *)p = (float)x;
    else if (type == PRED) *(uint8_t *)p = x != 0;
    else if (fault("add-saturates")) *(int32_t *)p = x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
    else *(int32_t *)p = (int32_t)(uint32_t)x;
}

static double larger(double x, double y) {  /* of two zeros +0, with a NaN NaN */
    if (fault("maximum-ignores-nan")) return fmax(x, y);
    if (x != x || y != y) return NAN;
    return x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static int holds(int op, int less, int equal, int ordered) {
    switch (op) {
    case EQ: return equal;
    case NE: return !equal;
    case LT: return less;
    case LE: return less || equal;
    case GT: return ordered && !less && !equal;
    default: return ordered && !less;
    }
}

static double real(int op, double x, double y, double z) {
    switch (op) {
    case ADD: return x + y;
    case SUBTRACT: return x - y;
    case MULTIPLY: return x * y;
    case DIVIDE: return x / y;
    case REMAINDER: return fmod(x, y);
    case MAXIMUM: return larger(x, y);
    case MINIMUM: return -larger(-x, -y);
    case POWER: return fault("power-by-logarithm") && x < 0 ? NAN : pow(x, y);
    case MULTIPLY_ADD: return z + (float)(x * y);
    case NEGATE: return fault("negate-loses-zero") ? 0 - x : -x;
    case ABS: return fabs(x);
    case FLOOR: return floor(x);
    case CEIL: return ceil(x);
    case SQRT: return sqrt(x);
    case EXP: return fault("exp-overflows-early") && x > 88 ? INFINITY : exp(x);
    case LOG: return log(x);
    case TANH: return tanh(x);
    case SIN: return sin(x);
    case COS: return cos(x);
    case CONVERT: return x;
    default: return holds(op, x < y, x == y, x == x && y == y);
    }
}

static int64_t integer(int op, int type, int64_t x, int64_t y, int64_t z) {
    switch (op) {
    case ADD: return x + y;
    case SUBTRACT: return x - y;
    case MULTIPLY: return x * y;
    case DIVIDE: return y ? fault("divides-saturating") && x / y > INT32_MAX ? INT32_MAX : x / y : fault("divides-by-zero") ? 0 : -1;
    case REMAINDER: return y ? fault("remainder-floors") && x % y && (x < 0) != (y < 0) ? x % y + y : x % y : x;
    case MAXIMUM: return x > y ? x : y;
    case MINIMUM: return x < y ? x : y;
    case MULTIPLY_ADD: return z + x * y;
    case AND: return x & y;
    case OR: return x | y;
    case XOR: return x ^ y;
    case NOT: return type == PRED ? !x : ~x;
    case SHIFT_LEFT: return (uint64_t)(fault("shift-is-cut") ? y &= 31 : y) < 32 ? (int64_t)((uint64_t)x << y) : 0;
    case SHIFT_RIGHT_LOGICAL: return (uint64_t)y < 32 ? (uint32_t)x >> y : 0;
    case SHIFT_RIGHT_ARITHMETIC: return x >> ((uint64_t)y < 32 ? y : 31);
    case NEGATE: return -x;
    case ABS: return x < 0 ? -x : x;
    case CONVERT: return x;
    default: return holds(op, x < y, x == y, 1);
    }
}

static int inside(device *d, uint64_t start, uint64_t size) { return start >= BASE && start + size <= BASE + d->size; }

static int64_t compute(device *d, const launch *l) {
    int64_t at[OPERANDS], index[RANK] = {0}, count = 1, limit = INT64_MAX;
    int width = l->types[0] == PRED ? 1 : 4, type = l->types[1];
    memcpy(at, l->offsets, sizeof at);
    for (int k = 0; k < l->rank; k++) count *= l->extents[k];
    if (fault("counts-in-16-bits")) limit = 1 << 16;
    if (fault("drops-the-tail") && count > 4096) limit = count / 16 * 16;
    if (fault("stride-is-short")) {
        for (int i = 1; i < OPERANDS; i++)
            if (l->rank > 2 && l->extents[l->rank - 1] % 2) at[i] += l->strides[i][0] > 64 && l->extents[0] > 4;
    }
    for (int64_t n = 0; n < count && n < limit; n++) {
        char *p[OPERANDS];
        for (int i = 0; i < OPERANDS; i++) {
            int bytes = l->types[i] == PRED ? 1 : 4;
            p[i] = d->bytes + l->addresses[i] + at[i] * bytes;
            if (l->addresses[i] && !inside(d, l->addresses[i] + at[i] * bytes, bytes)) return OUTSIDE_MEMORY;
        }
        if (l->op == COPY) memmove(p[0], p[1], width);
        else if (l->op == SELECT) memmove(p[0], *(uint8_t *)p[1] ? p[2] : p[3], width);
        else if (l->op == IOTA) store_integer(l->types[0], p[0], at[1]);
        else {
            void *b = l->addresses[2] ? p[2] : p[1], *c = l->addresses[3] ? p[3] : p[1];
            if (type == F32) store_real(l->types[0], p[0], real(l->op, load_real(type, p[1]), load_real(type, b), load_real(type, c)));
            else store_integer(l->types[0], p[0], integer(l->op, type, load_integer(type, p[1]), load_integer(type, b), load_integer(type, c)));
            if (fault("tanh-overwrites") && l->op == TANH) memcpy(p[1], p[0], 4);
        }
        for (int k = l->rank - 1; k >= 0; k--) {
            for (int i = 0; i < OPERANDS; i++) at[i] += l->strides[i][k];
            if (++index[k] < l->extents[k]) break;
            for (int i = 0; i < OPERANDS; i++) at[i] -= l->strides[i][k] * l->extents[k];
            index[k] = 0;
        }
    }
    return 0;
}

/* -- streams and events ---------------------------------------------------------------------------------------------- */

static void drop(point *p) {
    if (--p->references == 0) free(p);
}

static void reach(point *p, int64_t error) {
    pthread_mutex_lock(&points);
    p->error = fault("event-loses-error") ? 0 : error;
    p->ready = 1;
    pthread_cond_broadcast(&reached);
    drop(p);
    pthread_mutex_unlock(&points);
}

static int64_t await(point *p) {
    pthread_mutex_lock(&points);
    while (!p->ready && !fault("wait-ignored")) pthread_cond_wait(&reached, &points);
    int64_t error = p->error;
    drop(p);
    pthread_mutex_unlock(&points);
    return error;
}

static int64_t copy(device *d, const command *c) {
    uint64_t size = c->size;
    if ((c->kind != H2D && !inside(d, c->from, size)) || (c->kind != D2H && !inside(d, c->to, size))) return OUTSIDE_MEMORY;
    if (fault("lines-not-flushed") && c->kind == D2H && c->from % 4096 && size > 4096) size = size / 64 * 64;
    if (fault("copies-aligned") && c->kind == H2D && size % 4 == 2) size -= 2;
    if (fault("copy-loses-last-byte") && size > 1 << 16 && size % 2) size--;
    if (c->kind == H2D) memcpy(d->bytes + c->to, c->host, size);
    else if (c->kind == D2H) memcpy(c->host, d->bytes + c->from, size);
    else memcpy(d->bytes + c->to, d->bytes + c->from, size);
    return 0;
}

static int64_t execute(stream *s, const command *c) {
    switch (c->kind) {
    case RECORD:
        if (fault("record-counter-wraps") && ++s->records == 0) return s->error;
        reach(c->point, s->error);
        return s->error;
    case WAIT: { int64_t error = await(c->point); return s->error ? s->error : error; }
    case RECOVER: return fault("never-recovers") ? s->error : 0;
    }
    if (s->error && !(fault("fills-after-failure") && c->kind == FILL)) return s->error;
    switch (c->kind) {
    case FILL:
        if (!inside(s->device, c->from, c->size)) return OUTSIDE_MEMORY;
        memset(s->device->bytes + c->from, fault("fills-seven-bits") ? c->value & 0x7f : c->value, c->size);
        return s->error;
    case LAUNCH: return compute(s->device, &c->launch);
    case CALLBACK: {
        if (!fault("one-callback-at-a-time")) return c->callback();
        pthread_mutex_lock(&callbacks);
        int64_t error = c->callback();
        pthread_mutex_unlock(&callbacks);
        return error;
    }
    default: return copy(s->device, c);
    }
}

static void *work(void *argument) {
    stream *s = argument;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (!s->first && !s->closing) pthread_cond_wait(&s->changed, &s->lock);
        command *c = s->first;
        if (c && !(s->first = c->next)) s->last = NULL;
        if (c) s->waiting--;
        pthread_mutex_unlock(&s->lock);
        if (!c) return NULL;
        int64_t error = execute(s, c);
        __atomic_store_n(&s->error, error, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&s->done, 1, __ATOMIC_SEQ_CST);
        free(c);
    }
}

stream *stream_create(device *d) {
    stream *s = calloc(1, sizeof *s);
    s->device = d;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    pthread_create(&s->thread, NULL, work, s);
    return s;
}

int64_t stream_error(stream *s) { return __atomic_load_n(&s->error, __ATOMIC_SEQ_CST); }
int64_t stream_done(stream *s) { return __atomic_load_n(&s->done, __ATOMIC_SEQ_CST); }

static void enqueue(stream *s, command given) {
    command *c = malloc(sizeof *c);
    *c = given;
    pthread_mutex_lock(&s->lock);
    if (fault("ring-overflows") && c->kind == FILL && s->waiting > 256) {  /* the oldest place of the ring is full */
        pthread_mutex_unlock(&s->lock);
        free(c);
        return;
    }
    s->waiting++;
    if (c->kind == H2D && s->last && once_in_twenty("copy-late")) {  /* it goes before its predecessor instead */
        command **place = &s->first;
        while (*place != s->last) place = &(*place)->next;
        c->next = s->last;
        *place = c;
    } else {
        if (s->last) s->last->next = c;
        else s->first = c;
        s->last = c;
    }
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (given.kind == D2H && fault("reads-block")) while (s->last) usleep(100);
}

void stream_h2d(stream *s, uint64_t to, void *host, uint64_t n) { enqueue(s, (command){.kind = H2D, .to = to, .host = host, .size = n}); }
void stream_d2h(stream *s, void *host, uint64_t from, uint64_t n) { enqueue(s, (command){.kind = D2H, .host = host, .from = from, .size = n}); }
void stream_d2d(stream *s, uint64_t to, uint64_t from, uint64_t n) { enqueue(s, (command){.kind = D2D, .to = to, .from = from, .size = n}); }
void stream_fill(stream *s, uint64_t at, uint64_t n, int value) { enqueue(s, (command){.kind = FILL, .from = at, .size = n, .value = value}); }
void stream_launch(stream *s, launch *l) { enqueue(s, (command){.kind = LAUNCH, .launch = *l}); }
void stream_callback(stream *s, int64_t (*call)(void)) { enqueue(s, (command){.kind = CALLBACK, .callback = call}); }
void stream_recover(stream *s) { enqueue(s, (command){.kind = RECOVER}); }

void stream_destroy(stream *s) {  /* after all commands are done */
    if (fault("thread-left")) return;
    pthread_mutex_lock(&s->lock);
    if (fault("close-drops-work")) s->first = s->last = NULL;
    s->closing = 1;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    free(s);
}

event *event_create(void) {
    event *e = malloc(sizeof *e);
    e->last = malloc(sizeof *e->last);
    *e->last = (point){.references = 1, .ready = 1};
    return e;
}

void event_record(event *e, stream *s) {
    point *p = malloc(sizeof *p);
    *p = (point){.references = 2, .ready = fault("event-ready-early")};
    pthread_mutex_lock(&points);
    drop(e->last);
    e->last = p;
    pthread_mutex_unlock(&points);
    enqueue(s, (command){.kind = RECORD, .point = p});
}

void event_await(event *e, stream *s) {  /* makes the stream wait for the last record */
    pthread_mutex_lock(&points);
    point *p = e->last;
    p->references++;
    pthread_mutex_unlock(&points);
    if (fault("wait-in-one-stream") && s->error) { pthread_mutex_lock(&points); drop(p); pthread_mutex_unlock(&points); return; }
    enqueue(s, (command){.kind = WAIT, .point = p});
}

int event_synchronize(event *e, double seconds, int64_t *error) {  /* whether the last record is reached in that time */
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    int64_t nanoseconds = end.tv_nsec + (int64_t)(seconds * 1e9);
    end.tv_sec += nanoseconds / 1000000000;
    end.tv_nsec = nanoseconds % 1000000000;
    pthread_mutex_lock(&points);
    point *p = e->last;
    p->references++;
    while (!p->ready && seconds > 0 && !pthread_cond_timedwait(&reached, &points, &end));
    int ready = p->ready || (fault("timeout-is-ready") && seconds > 0);
    *error = p->error;
    drop(p);
    pthread_mutex_unlock(&points);
    return ready;
}

void event_destroy(event *e) {
    pthread_mutex_lock(&points);
    if (fault("event-dies-early") && !e->last->ready) abort();
    drop(e->last);
    pthread_mutex_unlock(&points);
    free(e);
}
