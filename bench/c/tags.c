/* Segments in C: a tag's ids from memory, beside an atomic add and a write. */
#include "harness.h"

#include <leafid.h>
#include <stdatomic.h>
#include <stdlib.h>

static leafid_tag *tag;
static volatile int64_t sink;

/* One range that is never used up. */
static int fetch(void *user_data, const char *tag, int64_t step, leafid_segment *out, char *error, size_t error_cap) {
  static _Atomic int64_t next = 1;
  (void)user_data, (void)tag, (void)step, (void)error, (void)error_cap;
  out->start = atomic_fetch_add(&next, INT64_C(1) << 40);
  out->end = out->start + (INT64_C(1) << 40);
  return LEAFID_OK;
}

static void open_tag(void) {
  leafid_segments_options *options;
  leafid_segments *segments;
  must(leafid_segments_options_new(&options));
  leafid_segments_options_set_fetch(options, fetch, NULL, NULL);
  leafid_segments_options_set_persist(options, 0);
  must(leafid_segments_open(options, &segments));
  leafid_segments_options_free(options);
  must(leafid_segments_tag(segments, "order", &tag));
  leafid_segments_free(segments);
}

static double adds(void) {
  static _Atomic uint64_t counter;
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < CALLS; i++) sink = (int64_t)atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  return (double)(clk(CLOCK_MONOTONIC) - t) / CALLS;
}

static double calls_of_next(void) {
  int64_t id;
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < CALLS; i++) {
    if (leafid_tag_next(tag, &id) != LEAFID_OK) exit(1);
    sink = id;
  }
  return (double)(clk(CLOCK_MONOTONIC) - t) / CALLS;
}

static double fills(void) {
  uint64_t t = clk(CLOCK_MONOTONIC);
  must(leafid_tag_fill(tag, out, N));
  double ns = (double)(clk(CLOCK_MONOTONIC) - t) / N;
  for (int i = 1; i < N; i++)
    if (out[i] != out[i - 1] + 1) abort();
  return ns;
}

/* Into memory of leafid's, as much as the allocator gives again without a page fault. */
static double takes(void) {
  enum { TAKE = 1000 };
  int64_t *taken;
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < N / TAKE; i++) {
    must(leafid_tag_take(tag, TAKE, &taken));
    sink = taken[TAKE - 1];
    leafid_ids_free(taken, TAKE);
  }
  return (double)(clk(CLOCK_MONOTONIC) - t) / N;
}

void tags(void) {
  int64_t first;
  begin_bulk();
  open_tag();
  must(leafid_tag_next(tag, &first));
  compared("tag", WINDOWS, adds, calls_of_next);
  compared("tag_fill", 25, writes, fills);
  compared("tag_take", 25, writes, takes);
  leafid_tag_free(tag);
  end_bulk();
}

static uint64_t next(void) {
  int64_t id;
  must(leafid_tag_next(tag, &id));
  return (uint64_t)id;
}

static void fill_some(uint64_t *ids, int n) { must(leafid_tag_fill(tag, (int64_t *)ids, (size_t)n)); }

void tag_subjects(void) {
  open_tag();
  single("leafid", "leafid_tag_next", next, N);
  batch("leafid", "leafid_tag_fill of 1000", fill_some, 1000);
  leafid_tag_free(tag);
}
