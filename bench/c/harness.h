/* How a subject is measured, and the line that tells of it.
 *
 * sustained  ids back to back, waiting for the next tick included
 * burst      2048 ids right after a fresh millisecond, so nothing ever waits: the cost of a call
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdint.h>
#include <time.h>

enum { REPS = 9, N = 1000000, BURST = 2048 };
typedef uint64_t (*gen)(void);

uint64_t clk(clockid_t id); /* nanoseconds */
uint64_t now_ms(void);
void next_tick(void); /* returns early in a fresh millisecond */
double timed(gen f, int n); /* ns per call */

void raw(const char *peer, const char *what, gen f);
void single(const char *peer, const char *what, gen f, int n);
void burst(const char *peer, const char *what, gen f);
/* A figure that a goal is set for, beside its floor. report.py knows the goals. */
void measured(const char *what, double figure, double floor);

/* floors.c, ours.c, peers.c: what can be measured. */
void floors(void);
void ours(void);
void call(void);
void plain_loop(void);
void fill(void);
void footprint(void);
void peers(void);

#endif
