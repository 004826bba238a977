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

static void emit(const char *peer, const char *what, const char *kind, double *ns, const char *notes) {
  const char *version = strcmp(peer, "libuuid") ? "" : LIBUUID_VERSION;
  qsort(ns, REPS, sizeof *ns, by_double);
  printf("{\"lang\":\"c\",\"peer\":\"%s\",\"version\":\"%s\",\"what\":\"%s [%s]\",\"ns_min\":%.2f,"
         "\"ns_median\":%.2f,\"notes\":\"%s\"}\n", peer, version, what, kind, ns[0], ns[REPS / 2], notes);
  fflush(stdout);
}

void measured(const char *what, double figure, double floor) {
  printf("{\"lang\":\"c\",\"measure\":\"%s\",\"figure\":%.4f,\"floor\":%.4f}\n", what, figure, floor);
  fflush(stdout);
}

void raw(const char *peer, const char *what, gen f) {
  double ns[REPS];
  timed(f, N);
  for (int r = 0; r < REPS; r++) ns[r] = timed(f, 4 * N);
  emit(peer, what, "floor", ns, "");
}

void single(const char *peer, const char *what, gen f, int n) {
  double ns[REPS];
  char notes[96];
  uint64_t *ids = malloc((size_t)n * sizeof *ids), cpu;
  int dups = 0, descents = 0;
  if (!ids) abort();
  timed(f, n);
  cpu = clk(CLOCK_PROCESS_CPUTIME_ID);
  for (int r = 0; r < REPS; r++) ns[r] = timed(f, n);
  cpu = clk(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  for (int i = 0; i < n; i++) ids[i] = f();
  for (int i = 1; i < n; i++) descents += ids[i] < ids[i - 1];
  qsort(ids, (size_t)n, sizeof *ids, by_u64);
  for (int i = 1; i < n; i++) dups += ids[i] == ids[i - 1];
  free(ids);
  if (strcmp(peer, "libuuid"))
    snprintf(notes, sizeof notes, "cpu_ns=%.1f dups=%d descents=%d of %d", (double)cpu / REPS / n, dups, descents, n);
  else
    snprintf(notes, sizeof notes, "cpu_ns=%.1f dups=%d of %d", (double)cpu / REPS / n, dups, n);
  emit(peer, what, "sustained", ns, notes);
}

void burst(const char *peer, const char *what, gen f) {
  double ns[REPS + 1];
  int rounds = N / 2 / BURST;
  for (int r = 0; r <= REPS; r++) { /* the first repeat warms up */
    ns[r] = 0;
    for (int i = 0; i < rounds; i++) {
      next_tick();
      ns[r] += timed(f, BURST) / rounds;
    }
  }
  emit(peer, what, "burst", ns + 1, "");
}
