/* What else a C program can pick.
 *
 * No C snowflake generator is packaged by Debian, so besides libuuid there is a baseline: the 20 lines a C programmer
 * writes by hand (10 + 12 bits; and 1 + 21, which never has to wait).
 */
#include "harness.h"

#include <stdatomic.h>
#include <string.h>
#ifdef WITH_LIBUUID
#include <uuid/uuid.h>
#endif

static uint64_t by_hand(_Atomic uint64_t *last, int worker_bits, int seq_bits) {
  for (;;) {
    uint64_t now = clk(CLOCK_REALTIME) / 1000000u - 1288834974657u;
    uint64_t old = atomic_load(last), next = now << seq_bits;
    if (old >= next) {
      if (old >> seq_bits > now || ~old << (64 - seq_bits) == 0) continue; /* behind, or used up: wait */
      next = old + 1;
    }
    if (atomic_compare_exchange_weak(last, &old, next))
      return next >> seq_bits << (seq_bits + worker_bits) | 1u << seq_bits | (next & ((1u << seq_bits) - 1));
  }
}
static _Atomic uint64_t last12, last21;
static uint64_t hand12(void) { return by_hand(&last12, 10, 12); }
static uint64_t hand21(void) { return by_hand(&last21, 1, 21); }

#ifdef WITH_LIBUUID
static uint64_t folded(uuid_t u) { /* enough of the 128 bits to spot duplicates */
  uint64_t a, b;
  memcpy(&a, u, 8);
  memcpy(&b, u + 8, 8);
  return a * 0x9e3779b97f4a7c15u ^ b;
}
static uint64_t v1(void) { uuid_t u; uuid_generate_time(u); return folded(u); }
static uint64_t v4(void) { uuid_t u; uuid_generate_random(u); return folded(u); }
#endif

void peers(void) {
  single("by-hand", "CAS + clock, 10+12", hand12, N);
  burst("by-hand", "CAS + clock, 10+12", hand12);
  single("by-hand", "CAS + clock, wide 1+21", hand21, N);
#ifdef WITH_LIBUUID
  single("libuuid", "uuid_generate_time", v1, N / 5);
  single("libuuid", "uuid_generate_random", v4, N / 5);
#endif
}
