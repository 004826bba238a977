/* What every generator pays before it does anything. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>

static uint64_t empty(void) { return 0; }
static uint64_t realtime(void) { return clk(CLOCK_REALTIME); }
#ifdef CLOCK_REALTIME_COARSE
static uint64_t coarse(void) { return clk(CLOCK_REALTIME_COARSE); }
#endif
static uint64_t monotonic(void) { return clk(CLOCK_MONOTONIC); }

static _Atomic uint64_t counter;
static uint64_t fetch_add(void) { return atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed); }
static uint64_t load_cas(void) {
  uint64_t v = atomic_load_explicit(&counter, memory_order_relaxed);
  atomic_compare_exchange_strong(&counter, &v, v + 1);
  return v;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t plain;
static uint64_t lock_unlock(void) {
  pthread_mutex_lock(&mutex);
  uint64_t v = plain++;
  pthread_mutex_unlock(&mutex);
  return v;
}

void floors(void) {
  raw("floor", "empty call by pointer", empty);
  raw("floor", "clock_gettime(REALTIME)", realtime);
#ifdef CLOCK_REALTIME_COARSE
  raw("floor", "clock_gettime(REALTIME_COARSE)", coarse);
#endif
  raw("floor", "clock_gettime(MONOTONIC)", monotonic);
  raw("floor", "atomic fetch_add", fetch_add);
  raw("floor", "atomic load+CAS", load_cas);
  raw("floor", "pthread_mutex lock+unlock", lock_unlock);
}
