/* How a subject is measured, medians and minima of REPS repeats, and the line that tells of it.
 *
 * sustained  ids back to back, waiting for the next tick included
 * burst      2048 ids right after a fresh millisecond, so nothing ever waits: the cost of a call
 * batch      one call makes many ids
 *
 * Every subject is also checked: ids once more, duplicates and descents counted.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdint.h>
#include <time.h>

enum { REPS = 9, N = 1000000, BURST = 2048 };
typedef uint64_t (*gen)(void);
typedef void (*many)(uint64_t *ids, int n);
typedef double (*window)(void); /* ns for each id */

uint64_t clk(clockid_t id); /* nanoseconds */
uint64_t now_ms(void);
void next_tick(void); /* returns early in a fresh millisecond */
double timed(gen f, int n); /* ns per call */

void raw(const char *peer, const char *what, gen f);
void single(const char *peer, const char *what, gen f, int n);
void burst(const char *peer, const char *what, gen f);
void batch(const char *peer, const char *what, many f, int per);
/* A figure that a goal is set for, beside its floor. report.py knows the goals. */
void measured(const char *what, double figure, double floor);
/* The same from this many windows of each, in turn, after one of each that warms up: medians, minima, and the median
 * of the pairs' ratios. */
void compared(const char *what, int windows, window floor, window figure);
enum { WINDOWS = 301, CALLS = 10000 };
/* Between these: memory for N ids, and the floor of filling it: ns for each of as many numbers. */
void begin_bulk(void);
void end_bulk(void);
extern int64_t *out;
double writes(void);

/* Ends the program with leafid's last error unless this leafid_status is LEAFID_OK. */
void must(int status);

/* floors.c, ours.c, tags.c, peers.c: what can be measured. */
void floors(void);
void ours(void);
void call(void);
void plain_loop(void);
void fill(void);
void tags(void);
void tag_subjects(void);
void footprint(void);
void peers(void);

#endif
