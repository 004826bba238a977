/* leafid for C: as the peers are measured, and the figures that have a goal, each beside its floor in the same run. */
#include "harness.h"

#include <dirent.h>
#include <leafid.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static leafid_snowflake *flake;
static volatile int64_t sink;

void must(int status) {
  char text[512];
  if (status == LEAFID_OK) return;
  leafid_last_error(text, sizeof text);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

/* The first day of this year in Unix milliseconds. */
static int64_t this_year_ms(void) {
  time_t now = time(NULL);
  struct tm day;
  gmtime_r(&now, &day);
  return ((int64_t)now / 86400 - day.tm_yday) * 86400000;
}

/* A generator in the bench's own state directory under a name that nobody else has. Wide is 23 bits of sequence from the
 * first day of this year, starting at 0: a tick is never used up. */
static leafid_snowflake *opened(int wide, int random_start) {
  static int count;
  char name[64];
  leafid_snowflake_options *options;
  leafid_snowflake *made = NULL;
  snprintf(name, sizeof name, "bench-c-%ld-%d", (long)getpid(), count++);
  must(leafid_snowflake_options_new(&options));
  leafid_snowflake_options_set_worker_id(options, 1);
  leafid_snowflake_options_set_name(options, name);
  leafid_snowflake_options_set_state_dir(options, getenv("BENCH_STATE"));
  leafid_snowflake_options_set_random_start(options, random_start);
  if (wide) {
    leafid_snowflake_options_set_layout(options, "35|5|23");
    leafid_snowflake_options_set_epoch_ms(options, this_year_ms());
  }
  must(leafid_snowflake_open(options, &made));
  leafid_snowflake_options_free(options);
  return made;
}

static void reopen(int wide, int random_start) {
  leafid_snowflake_free(flake);
  flake = opened(wide, random_start);
}

static uint64_t next(void) {
  int64_t id;
  if (leafid_snowflake_next(flake, &id) != LEAFID_OK) must(leafid_snowflake_next(flake, &id));
  return (uint64_t)id;
}

static void fill_some(uint64_t *ids, int n) { must(leafid_snowflake_fill(flake, (int64_t *)ids, (size_t)n)); }

void ours(void) {
  reopen(0, 100);
  single("leafid", "leafid_snowflake_next", next, N);
  burst("leafid", "leafid_snowflake_next", next);
  reopen(1, 0);
  single("leafid", "leafid_snowflake_next wide 5+23", next, N);
  batch("leafid", "leafid_snowflake_fill of 1000, wide 5+23", fill_some, 1000);
  tag_subjects();
  reopen(0, 100);
}

/* Both loops are written out, so that no call by pointer comes between. */
static double clock_and_add(void) {
  static _Atomic uint64_t counter;
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < CALLS; i++)
    sink = (int64_t)(now_ms() + atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed));
  return (double)(clk(CLOCK_MONOTONIC) - t) / CALLS;
}

static double calls_of_next(void) {
  int64_t id;
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < CALLS; i++) {
    if (leafid_snowflake_next(flake, &id) != LEAFID_OK) exit(1);
    sink = id;
  }
  return (double)(clk(CLOCK_MONOTONIC) - t) / CALLS;
}

/* One call where nothing waits, in turn with a clock read and an atomic add. */
void call(void) {
  reopen(1, 0);
  compared("call", WINDOWS, clock_and_add, calls_of_next);
}

static int by_share(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* A plain loop over next on the leaf layout: the share of all ids that 400 ticks hold, the median of 7 windows. */
void plain_loop(void) {
  enum { TICKS = 400, ROUNDS = 7 };
  double shares[ROUNDS];
  reopen(0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    next_tick();
    /* A last tick that was begun counts as one. */
    double ms = timed(next, TICKS * 4096) * TICKS * 4096 / 1e6;
    shares[round] = TICKS / ceil(ms + 0.01);
  }
  qsort(shares, ROUNDS, sizeof *shares, by_share);
  measured("loop", shares[ROUNDS / 2], 1);
}

static double fills(void) {
  uint64_t t = clk(CLOCK_MONOTONIC);
  must(leafid_snowflake_fill(flake, out, N));
  double ns = (double)(clk(CLOCK_MONOTONIC) - t) / N;
  for (int i = 1; i < N; i++)
    if (out[i] <= out[i - 1]) abort();
  return ns;
}

/* A million ids into memory that was touched, in turn with writing as many numbers in a loop: ns for each. */
void fill(void) {
  begin_bulk();
  reopen(1, 0);
  compared("fill", 25, writes, fills);
  end_bulk();
}

static int threads(void) {
  int count = -2; /* . and .. */
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  while (readdir(tasks)) count++;
  closedir(tasks);
  return count;
}

void footprint(void) {
  leafid_snowflake_free(flake); /* its thread ends with it */
  int before = threads();
  flake = opened(0, 100);
  measured("threads before the first id", threads() - before, 0);
  next();
  measured("threads while in use", threads() - before, 0);
}
