#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LIBUUID_VERSION
#define LIBUUID_VERSION ""
#endif

static volatile uint64_t sink;

uint64_t clk(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t now_ms(void) { return clk(CLOCK_REALTIME) / 1000000u; }

void next_tick(void) {
  for (uint64_t t = now_ms(); now_ms() == t;) {}
}

double timed(gen f, int n) {
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < n; i++) sink = f();
  return (double)(clk(CLOCK_MONOTONIC) - t) / n;
}

static int by_double(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int by_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void say(const char *peer, const char *what, const char *kind, double *ns, const char *seen) {
  const char *version = strcmp(peer, "libuuid") ? "" : LIBUUID_VERSION;
  qsort(ns, REPS, sizeof *ns, by_double);
  printf("{\"lang\":\"c\",\"peer\":\"%s\",\"version\":\"%s\",\"what\":\"%s\",\"kind\":\"%s\",\"threads\":1,"
         "\"ns_min\":%.2f,\"ns_median\":%.2f%s,\"notes\":\"\"}\n", peer, version, what, kind, ns[0], ns[REPS / 2], seen);
  fflush(stdout);
}

void measured(const char *what, double figure, double floor) {
  printf("{\"lang\":\"c\",\"measure\":\"%s\",\"figure\":%.4f,\"floor\":%.4f}\n", what, figure, floor);
  fflush(stdout);
}

void compared(const char *what, int windows, window floor, window figure) {
  double *floors = malloc(3 * (size_t)windows * sizeof *floors), *figures = floors + windows, *ratios = figures + windows;
  if (!floors) abort();
  floor(), figure(); /* warm up */
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

void raw(const char *peer, const char *what, gen f) {
  double ns[REPS];
  timed(f, N);
  for (int r = 0; r < REPS; r++) ns[r] = timed(f, 4 * N);
  say(peer, what, "floor", ns, "");
}

/* Writes what n ids are like, in the order that they were made in, as fields of a line. */
static void look_at(char *seen, size_t cap, double cpu, uint64_t *ids, int n) {
  int dups = 0, descents = 0, used = 0;
  for (int i = 1; i < n; i++) descents += ids[i] < ids[i - 1];
  qsort(ids, (size_t)n, sizeof *ids, by_u64);
  for (int i = 1; i < n; i++) dups += ids[i] == ids[i - 1];
  if (cpu > 0) used = snprintf(seen, cap, ",\"cpu_ns\":%.2f", cpu);
  snprintf(seen + used, cap - (size_t)used, ",\"dups\":%d,\"descents\":%d,\"checked\":%d", dups, descents, n);
}

static void checked(char *seen, size_t cap, double cpu, gen f, int n) {
  uint64_t *ids = malloc((size_t)n * sizeof *ids);
  if (!ids) abort();
  for (int i = 0; i < n; i++) ids[i] = f();
  look_at(seen, cap, cpu, ids, n);
  free(ids);
}

void single(const char *peer, const char *what, gen f, int n) {
  double ns[REPS], cpu;
  char seen[128];
  timed(f, n);
  cpu = (double)clk(CLOCK_PROCESS_CPUTIME_ID);
  for (int r = 0; r < REPS; r++) ns[r] = timed(f, n);
  cpu = (double)clk(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  checked(seen, sizeof seen, cpu / REPS / n, f, n);
  say(peer, what, "sustained", ns, seen);
}

void burst(const char *peer, const char *what, gen f) {
  double ns[REPS + 1];
  char seen[128];
  int rounds = N / 2 / BURST;
  for (int r = 0; r <= REPS; r++) { /* the first repeat warms up */
    ns[r] = 0;
    for (int i = 0; i < rounds; i++) {
      next_tick();
      ns[r] += timed(f, BURST) / rounds;
    }
  }
  checked(seen, sizeof seen, 0, f, N / 2);
  say(peer, what, "burst", ns + 1, seen);
}

void batch(const char *peer, const char *what, many f, int per) {
  double ns[REPS + 1];
  char seen[128];
  uint64_t *ids = malloc(N * sizeof *ids);
  if (!ids) abort();
  for (int r = 0; r <= REPS; r++) {
    uint64_t t = clk(CLOCK_MONOTONIC);
    for (int i = 0; i < N / per; i++) f(ids, per);
    ns[r] = (double)(clk(CLOCK_MONOTONIC) - t) / N;
  }
  for (int i = 0; i < N / per; i++) f(ids + i * per, per);
  look_at(seen, sizeof seen, 0, ids, N / per * per);
  free(ids);
  say(peer, what, "batch", ns + 1, seen);
}

int64_t *out;
static int64_t *numbers;

void begin_bulk(void) {
  numbers = calloc(N, sizeof *numbers);
  out = calloc(N, sizeof *out);
  if (!numbers || !out) abort();
}

void end_bulk(void) {
  free(numbers);
  free(out);
}

double writes(void) {
  uint64_t t = clk(CLOCK_MONOTONIC);
  for (int i = 0; i < N; i++) numbers[i] = i;
  sink = (uint64_t)numbers[N / 2];
  return (double)(clk(CLOCK_MONOTONIC) - t) / N;
}
