/* A device with memory of its own, queues that have a thread each, and events: what a vendor's driver offers.
 *
 * Its functions are those that c_driver.py of the template lists. Work that fails leaves a number in its queue, which then
 * skips work until it reaches a RECOVER. The kernels are in kernels.h, and the faults that can be switched on in faults.h.
 */
#include "kernels.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, ALIGNMENT = 64 };
enum kind { COPY_IN, COPY_OUT, COPY, FILL, LAUNCH, CALL, RECORD, WAIT, RECOVER };

typedef struct block { struct block *next; uint64_t start, size; } block;
typedef struct { uint64_t memory, size; block *blocks; } device; /* the blocks that are used, by address */
typedef struct { int references, ready; int64_t error; } point;  /* one record of an event */
typedef struct { point *last; } event;
typedef struct command {
    enum kind kind;
    uint64_t to, from, size;
    int value;
    launch *launch;
    int64_t (*function)(void);
    point *point;
    int is_poisoned; /* whether the queue had failed when the command was submitted */
    struct command *next;
} command;
typedef struct { pthread_t thread; command *first, *last; uint64_t submitted, done; int64_t error; int closing, records; } queue;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all memory, queues and events */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void after_fork(void) { /* the child has none of the threads that waited */
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

/* -- memory ---------------------------------------------------------------------------------------------------------- */

device *qd_open(uint64_t size) {
    if (faulty(OPEN_ABORTS)) abort();
    if (faulty(OPEN_HANGS)) sleep(1000);
    device *d = malloc(sizeof *d);
    *d = (device){(uint64_t)aligned_alloc(PAGE, size), faulty(MEMORY_LIES) ? size / 1000 : size, NULL};
    pthread_atfork(NULL, NULL, after_fork);
    return d;
}

uint64_t qd_allocate(device *d, uint64_t size) { /* in the first gap between blocks that has room; 0 if there is none */
    uint64_t start = d->memory, wanted = (size + !size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (faulty(OVERLAP) && size > 1 << 20) wanted -= ALIGNMENT;
    block **place = &d->blocks, *new = NULL;
    pthread_mutex_lock(&lock);
    for (; *place && (*place)->start - start < wanted; place = &(*place)->next) start = (*place)->start + (*place)->size;
    if (start + wanted <= d->memory + d->size) {
        new = malloc(sizeof *new);
        *new = (block){*place, start, wanted};
        *place = new;
    }
    pthread_mutex_unlock(&lock);
    return new ? start : 0;
}

void qd_free(device *d, uint64_t start) {
    if (faulty(FREE_DOES_NOTHING) || faulty_once_in_twenty(FREE_FORGETS)) return;
    pthread_mutex_lock(&lock);
    block **place = &d->blocks;
    while ((*place)->start != start) place = &(*place)->next;
    block *found = *place;
    *place = found->next;
    free(found);
    pthread_mutex_unlock(&lock);
}

void qd_close(device *d) { /* after all memory is freed */
    free((void *)d->memory);
    free(d);
}

/* -- the work of a queue --------------------------------------------------------------------------------------------- */

static void drop(point *p) { if (--p->references == 0) free(p); }

static int64_t call(int64_t (*function)(void)) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    if (faulty(ONE_CALLBACK_AT_A_TIME)) pthread_mutex_lock(&one);
    int64_t error = function();
    if (faulty(ONE_CALLBACK_AT_A_TIME)) pthread_mutex_unlock(&one);
    return error;
}

static int64_t execute(queue *q, const command *c) { /* without the lock; returns the queue's error after the command */
    uint64_t size = c->size;
    if (q->error && c->kind < RECORD && !(faulty(FILLS_AFTER_FAILURE) && c->kind == FILL)) return q->error;
    if (faulty(LINES_NOT_FLUSHED) && c->kind == COPY_OUT && c->from % PAGE && size > PAGE) size = size / 64 * 64;
    if (faulty(COPIES_ALIGNED) && c->kind == COPY_IN && size % 4 == 2) size -= 2;
    if (faulty(COPY_LOSES_LAST_BYTE) && c->kind <= COPY && size > 1 << 16) size -= size % 2;
    switch (c->kind) {
    case COPY_IN: case COPY_OUT: case COPY: memmove((void *)c->to, (const void *)c->from, size); break;
    case FILL: memset((void *)c->to, faulty(FILLS_SEVEN_BITS) ? c->value & 0x7f : c->value, size); break;
    case LAUNCH: run(c->launch); break;
    case CALL: return call(c->function);
    case RECOVER: return faulty(NEVER_RECOVERS) ? q->error : 0;
    case RECORD:
        if (faulty(RECORD_COUNTER_WRAPS) && ++q->records % 256 == 0) break;
        pthread_mutex_lock(&lock);
        c->point->error = faulty(EVENT_LOSES_ERROR) ? 0 : q->error;
        c->point->ready = 1;
        drop(c->point);
        pthread_mutex_unlock(&lock);
        break;
    case WAIT:
        pthread_mutex_lock(&lock);
        while (!c->point->ready && !faulty(WAIT_IGNORED) && !(faulty(WAIT_IN_ONE_STREAM) && c->is_poisoned))
            pthread_cond_wait(&changed, &lock);
        int64_t error = c->point->error;
        drop(c->point);
        pthread_mutex_unlock(&lock);
        return q->error ? q->error : error;
    }
    return q->error;
}

static void *work(void *argument) {
    queue *q = argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!q->first && !q->closing) pthread_cond_wait(&changed, &lock);
        command *c = q->first;
        if (!c) break;
        q->first = c->next;
        pthread_mutex_unlock(&lock);
        int64_t error = execute(q, c);
        pthread_mutex_lock(&lock);
        q->error = error;
        q->done++;
        free(c->launch);
        free(c);
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void submit(queue *q, command given) { /* with the lock */
    command *c = malloc(sizeof *c);
    *c = given;
    c->is_poisoned = q->error != 0;
    if (faulty(RING_OVERFLOWS) && c->kind == FILL && q->submitted - q->done > 256) c->size = 0;
    if (q->first && c->kind == COPY_IN && faulty_once_in_twenty(COPY_LATE)) { *c = *q->last; *q->last = given; }
    *(q->first ? &q->last->next : &q->first) = c;
    q->last = c;
    q->submitted++;
    pthread_cond_broadcast(&changed);
    while (faulty(READS_BLOCK) && given.kind == COPY_OUT && q->submitted != q->done) pthread_cond_wait(&changed, &lock);
}

static void submit_alone(queue *q, command given) {
    pthread_mutex_lock(&lock);
    submit(q, given);
    pthread_mutex_unlock(&lock);
}

/* -- queues ---------------------------------------------------------------------------------------------------------- */

queue *qd_queue_create(void) {
    queue *q = calloc(1, sizeof *q);
    pthread_create(&q->thread, NULL, work, q);
    return q;
}

uint64_t qd_queue_done(queue *q) { return __atomic_load_n(&q->done, __ATOMIC_SEQ_CST); }
int64_t qd_queue_error(queue *q) { return __atomic_load_n(&q->error, __ATOMIC_SEQ_CST); }

void qd_copy_in(queue *q, uint64_t to, uint64_t from, uint64_t size) { submit_alone(q, (command){COPY_IN, to, from, size}); }
void qd_copy_out(queue *q, uint64_t to, uint64_t from, uint64_t size) { submit_alone(q, (command){COPY_OUT, to, from, size}); }
void qd_copy(queue *q, uint64_t to, uint64_t from, uint64_t size) { submit_alone(q, (command){COPY, to, from, size}); }
void qd_fill(queue *q, uint64_t to, int value, uint64_t size) { submit_alone(q, (command){FILL, to, 0, size, value}); }
void qd_call(queue *q, int64_t (*function)(void)) { submit_alone(q, (command){CALL, .function = function}); }
void qd_recover(queue *q) { submit_alone(q, (command){RECOVER}); }

void qd_launch(queue *q, kernel *kernel, int count, const uint64_t *buffers, int parameter_count, const int64_t *parameters) {
    int64_t bytes = (parameter_count - count) * sizeof *parameters; /* the parameters are offsets in buffers, and dimensions */
    launch *l = malloc(sizeof *l + bytes);
    *l = (launch){kernel, bytes / sizeof(dimension)};
    for (int i = 0; i < count; i++) l->starts[i] = (char *)buffers[i] + parameters[i];
    memcpy(l->dimensions, parameters + count, bytes);
    submit_alone(q, (command){LAUNCH, .launch = l});
}

void qd_queue_destroy(queue *q) { /* after all work is done */
    if (faulty(THREAD_LEFT)) return;
    pthread_mutex_lock(&lock);
    if (faulty(CLOSE_DROPS_WORK)) q->first = NULL;
    q->closing = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(q->thread, NULL);
    free(q);
}

/* -- events ---------------------------------------------------------------------------------------------------------- */

static point *new_point(int references, int ready) {
    point *p = malloc(sizeof *p);
    *p = (point){references, ready, 0};
    return p;
}

event *qd_event_create(void) {
    event *e = malloc(sizeof *e);
    e->last = new_point(1, 1);
    return e;
}

void qd_record(queue *q, event *e) {
    pthread_mutex_lock(&lock);
    drop(e->last);
    e->last = new_point(2, faulty(EVENT_READY_EARLY));
    submit(q, (command){RECORD, .point = e->last});
    pthread_mutex_unlock(&lock);
}

void qd_wait(queue *q, event *e) { /* for the last record of the event */
    pthread_mutex_lock(&lock);
    e->last->references++;
    submit(q, (command){WAIT, .point = e->last});
    pthread_mutex_unlock(&lock);
}

int qd_event_wait(event *e, int milliseconds, int64_t *error) { /* whether the last record is reached by then */
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += milliseconds % 1000 * 1000000L;
    end.tv_sec += milliseconds / 1000 + end.tv_nsec / 1000000000L;
    end.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&lock);
    point *p = e->last;
    p->references++;
    while (!p->ready && milliseconds > 0 && !pthread_cond_timedwait(&changed, &lock, &end)) {}
    int ready = p->ready || (faulty(TIMEOUT_IS_READY) && milliseconds > 0);
    *error = p->error;
    drop(p);
    pthread_mutex_unlock(&lock);
    return ready;
}

void qd_event_destroy(event *e) {
    pthread_mutex_lock(&lock);
    if (faulty(EVENT_DIES_EARLY) && !e->last->ready) abort();
    drop(e->last);
    pthread_mutex_unlock(&lock);
    free(e);
}
