/* The runtime of models that `xla aot` compiles for several threads: a pool of threads. Other models don't need it.
 *
 * XLA_AOT_THREADS is the number of threads of the process; 1, the default, needs no POSIX threads. */
#include "xla_aot.h"

#include <string.h>

#ifndef XLA_AOT_THREADS
#define XLA_AOT_THREADS 1
#endif

#if XLA_AOT_THREADS > 1
#include <pthread.h>

/* One job runs at a time. A caller that finds the pool busy runs its whole range itself, so nothing waits for it. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t work, done;
  pthread_once_t started;
  xla_aot_kernel kernel;
  void *const *buffers;
  int64_t size, chunk, next;
  int busy, running;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_ONCE_INIT,
          NULL, NULL, 0, 0, 0, 0, 0};

/* Runs chunks of the job until none is left. The caller holds the lock. */
static void run_chunks(void) {
  while (pool.next < pool.size) {
    int64_t begin = pool.next;
    int64_t end = pool.size - begin > pool.chunk ? begin + pool.chunk : pool.size;
    pool.next = end;
    pool.running++;
    pthread_mutex_unlock(&pool.lock);
    pool.kernel(pool.buffers, begin, end);
    pthread_mutex_lock(&pool.lock);
    if (--pool.running == 0 && pool.next >= pool.size) pthread_cond_signal(&pool.done);
  }
}

static void *work(void *unused) {
  (void)unused;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    run_chunks();
    pthread_cond_wait(&pool.work, &pool.lock);
  }
  return NULL;
}

static void start(void) {
  pthread_t thread;
  for (int i = 1; i < XLA_AOT_THREADS; ++i)
    if (pthread_create(&thread, NULL, work, NULL) == 0) pthread_detach(thread);
}

void xla_cpu_parallel_for(xla_aot_kernel kernel, void *const *buffers, int64_t size, int64_t chunk) {
  pthread_once(&pool.started, start);
  pthread_mutex_lock(&pool.lock);
  if (pool.busy) {
    pthread_mutex_unlock(&pool.lock);
    kernel(buffers, 0, size);
    return;
  }
  pool.busy = 1;
  pool.kernel = kernel;
  pool.buffers = buffers;
  pool.size = size;
  pool.chunk = chunk;
  pool.next = 0;
  pthread_cond_broadcast(&pool.work);
  run_chunks();
  while (pool.running > 0) pthread_cond_wait(&pool.done, &pool.lock);
  pool.busy = 0;
  pthread_mutex_unlock(&pool.lock);
}
#else
void xla_cpu_parallel_for(xla_aot_kernel kernel, void *const *buffers, int64_t size, int64_t chunk) {
  (void)chunk;
  kernel(buffers, 0, size);
}
#endif
