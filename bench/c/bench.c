/* The figures of leafid for C that have a goal, each beside its floor in the same run, one JSON line each. Arguments say
 * what to measure. report.py knows the goals. */
#include <dirent.h>
#include <leafid.h>
#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Windows of a comparison, and calls of each: in most of them nothing else runs. */
enum { N = 1000000, WINDOWS = 301, CALLS = 10000 };
typedef double (*window)(void); /* ns for each id */

static leafid_snowflake *flake;
static leafid_tag *tag;
static volatile int64_t sink;
static int64_t *out, *numbers;

static uint64_t clk(clockid_t id) { /* nanoseconds */
  struct timespec t;
  clock_gettime(id, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double ns_since(uint64_t t) { return (double)(clk(CLOCK_MONOTONIC) - t); }

static uint64_t now_ms(void) { return clk(CLOCK_REALTIME) / 1000000u; }

static int by_double(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void measured(const char *what, double figure, double floor) {
  printf("{\"lang\":\"c\",\"measure\":\"%s\",\"figure\":%.4f,\"floor\":%.4f}\n", what, figure, floor);
  fflush(stdout);
}

/* Of this many windows of each, in turn, after one of each that warms up: medians, minima, and the median of the pairs'
 * ratios. */
static void compared(const char *what, int windows, window floor, window figure) {
  double *floors = malloc(3 * (size_t)windows * sizeof *floors), *figures = floors + windows, *ratios = figures + windows;
  if (!floors) abort();
  floor(), figure();
  for (int i = 0; i < windows; i++) {
    floors[i] = floor();
    figures[i] = figure();
    ratios[i] = figures[i] / floors[i];
  }
  for (int i = 0; i < 3; i++) qsort(floors + i * windows, (size_t)windows, sizeof *floors, by_double);
  printf("{\"lang\":\"c\",\"measure\":\"%s\",\"figure\":%.4f,\"floor\":%.4f,\"ratio\":%.4f,\"figure_min\":%.4f,"
         "\"floor_min\":%.4f,\"repeats\":%d}\n", what, figures[windows / 2], floors[windows / 2], ratios[windows / 2],
         figures[0], floors[0], windows);
  fflush(stdout);
  free(floors);
}

/* Ends the program with leafid's last error unless this leafid_status is LEAFID_OK. */
static void must(int status) {
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

/* A generator in the bench's own state directory under a name of its own. Wide is 23 bits of sequence from the
 * first day of this year, starting at 0: a tick is never used up. */
static void reopen(int wide, int random_start) {
  static int count;
  char name[64];
  leafid_snowflake_options *options;
  leafid_snowflake_free(flake);
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
  must(leafid_snowflake_open(options, &flake));
  leafid_snowflake_options_free(options);
}

/* One range that is never used up. */
static int fetch(void *user_data, const char *tag, int64_t step, leafid_segment *segment, char *error, size_t error_cap) {
  static _Atomic int64_t next = 1;
  (void)user_data, (void)tag, (void)step, (void)error, (void)error_cap;
  segment->start = atomic_fetch_add(&next, INT64_C(1) << 40);
  segment->end = segment->start + (INT64_C(1) << 40);
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

/* A window of calls: each loop is written out, so that no call by pointer comes between. */
#define CALLS_OF(name, call) \
  static double name(void) { \
    static _Atomic uint64_t counter; \
    int64_t id = 0; \
    uint64_t t = clk(CLOCK_MONOTONIC); \
    (void)&counter; \
    for (int i = 0; i < CALLS; i++) { \
      call; \
      sink = id; \
    } \
    return ns_since(t) / CALLS; \
  }
#define ADD atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed)

CALLS_OF(adds, id = (int64_t)ADD)
CALLS_OF(clock_and_add, id = (int64_t)(now_ms() + ADD))
CALLS_OF(calls_of_next, if (leafid_snowflake_next(flake, &id) != LEAFID_OK) exit(1))
CALLS_OF(calls_of_tag_next, if (leafid_tag_next(tag, &id) != LEAFID_OK) exit(1))

/* One call where nothing waits, in turn with a clock read and an atomic add. */
static void call(void) {
  reopen(1, 0);
  compared("call", WINDOWS, clock_and_add, calls_of_next);
}

/* A plain loop over next on the leaf layout: the share of all ids that 400 ticks hold, the median of 7 windows. */
static void plain_loop(void) {
  enum { TICKS = 400, ROUNDS = 7 };
  double shares[ROUNDS];
  reopen(0, 0);
  for (int round = 0; round < ROUNDS; round++) {
    for (uint64_t tick = now_ms(); now_ms() == tick;) {}
    uint64_t t = clk(CLOCK_MONOTONIC);
    for (int i = 0; i < TICKS * 4096; i++) {
      int64_t id;
      must(leafid_snowflake_next(flake, &id));
      sink = id;
    }
    /* A last tick that was begun counts as one. */
    shares[round] = TICKS / ceil(ns_since(t) / 1e6 + 0.01);
  }
  qsort(shares, ROUNDS, sizeof *shares, by_double);
  measured("loop", shares[ROUNDS / 2], 1);
}

static double writes(void) {
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < N; i++) numbers[i] = i;
  sink = numbers[N / 2];
  return ns_since(t) / N;
}

static double fills(void) {
  uint64_t t = clk(CLOCK_MONOTONIC);
  must(leafid_snowflake_fill(flake, out, N));
  double ns = ns_since(t) / N;
  for (int i = 1; i < N; i++)
    if (out[i] <= out[i - 1]) abort();
  return ns;
}

static double tag_fills(void) {
  uint64_t t = clk(CLOCK_MONOTONIC);
  must(leafid_tag_fill(tag, out, N));
  double ns = ns_since(t) / N;
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
  return ns_since(t) / N;
}

/* A million ids into memory that was touched, in turn with writing as many numbers in a loop: ns for each. */
static void fill(void) {
  reopen(1, 0);
  compared("fill", 25, writes, fills);
}

static void tags(void) {
  int64_t first;
  open_tag();
  must(leafid_tag_next(tag, &first));
  compared("tag", WINDOWS, adds, calls_of_tag_next);
  compared("tag_fill", 25, writes, tag_fills);
  compared("tag_take", 25, writes, takes);
  leafid_tag_free(tag);
}

static int threads(void) {
  int count = -2; /* . and .. */
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return 0;
  while (readdir(tasks)) count++;
  closedir(tasks);
  return count;
}

static void footprint(void) {
  int64_t id;
  leafid_snowflake_free(flake); /* its thread ends with it */
  flake = NULL;
  int before = threads();
  reopen(0, 100);
  measured("threads before the first id", threads() - before, 0);
  must(leafid_snowflake_next(flake, &id));
  measured("threads while in use", threads() - before, 0);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*measure)(void);
  } parts[] = {{"call", call}, {"loop", plain_loop}, {"fill", fill}, {"tags", tags}, {"footprint", footprint}};
  numbers = calloc(N, sizeof *numbers);
  out = calloc(N, sizeof *out);
  if (!numbers || !out) abort();
  for (int i = 1; i < argc; i++) {
    size_t at = 0, count = sizeof parts / sizeof *parts;
    while (at < count && strcmp(argv[i], parts[at].name)) at++;
    if (at == count) {
      fprintf(stderr, "nothing is called %s\n", argv[i]);
      return 1;
    }
    parts[at].measure();
  }
  return 0;
}
