/* A giver of leases in memory, as a database would be one: it remembers every span it gave, and fails when told to. */
#ifndef LEAFID_TESTS_GIVER_H
#define LEAFID_TESTS_GIVER_H

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define GIVER_IDS 8
#define GIVER_SPANS 4096

struct giver {
    /* How long a span is, and what lease_ms it names. Set before it is used. */
    int64_t span_ms, lease_ms;
    /* What the next calls answer instead, with a text; 0: as they should. */
    atomic_int claim_fails, renew_fails;
    /* A renewal answers this much later; and not before `hangs` is false. */
    atomic_int slow_ms;
    atomic_bool hangs;
    /* Changes the answer of a claim, of a renewal. */
    void (*spoil)(leafid_lease *lease), (*spoil_renewal)(leafid_lease *lease);

    atomic_int claims, renewals, refusals, releases, freed;
    /* Calls under way; those made beside another; those with a token that is not the last one given,
       or was given back. */
    atomic_int inside, beside, strangers;
    _Atomic int64_t previous, released_until_ms;

    pthread_mutex_t lock;
    int serial;
    struct {
        bool held;
        int64_t until_ms;
        char token[LEAFID_TOKEN_SIZE];
    } workers[GIVER_IDS];
    struct {
        int64_t worker, from_ms, until_ms;
    } spans[GIVER_SPANS];
    size_t count;
};

/* In memory that children share. Given back by giver_end, when nobody calls it any more. */
struct giver *giver_new(int64_t span_ms, int64_t lease_ms);
void giver_end(struct giver *giver);
/* Options whose worker ids it gives. */
leafid_snowflake_options *giver_options(struct giver *giver, const char *dir, const char *name);
leafid_status giver_open(struct giver *giver, leafid_snowflake **out);
/* How many ids lie in no span of their worker id that was given; Leaf's layout. */
size_t giver_outside(struct giver *giver, const struct ids *ids);
/* Makes ids for so long, one a millisecond, and adds them. Answers the first error. */
leafid_status make_ids(leafid_snowflake *flake, int64_t for_ms, struct ids *ids);
#ifndef _WIN32
/* The same for 1.5 s, beside a forked child that closes its own; eight of the child's come here, over all that time. */
void make_ids_beside_a_child(leafid_snowflake *flake, struct ids *ids, int64_t childs[8]);
#endif

#endif
