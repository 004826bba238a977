/* A lease source in memory, as a database would be one: it remembers every span it gave, and fails on command. */
#ifndef LEAFID_TESTS_LEASE_SOURCE_H
#define LEAFID_TESTS_LEASE_SOURCE_H

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

#define LEASE_SOURCE_IDS 8
/* How long most leases last: a machine may stall for half of it, until they are renewed late. */
#define LEASE_MS 16000
#define LEASE_SOURCE_SPANS 4096

struct lease_source {
    /* How long a span is, and what lease_ms it names. Set before it is used, or with the lock held. */
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
    } workers[LEASE_SOURCE_IDS];
    struct {
        int64_t worker, from_ms, until_ms;
    } spans[LEASE_SOURCE_SPANS];
    size_t count;
};

/* In memory that children share. Given back by lease_source_end, after the last call of it. */
struct lease_source *lease_source_new(int64_t span_ms, int64_t lease_ms);
void lease_source_end(struct lease_source *source);
/* Options whose worker ids it gives. */
leafid_snowflake_options *lease_source_options(struct lease_source *source, const char *dir, const char *name);
leafid_status lease_source_open(struct lease_source *source, leafid_snowflake **out);
/* How many ids lie in no span of their worker id that was given; Leaf's layout. */
size_t lease_source_outside(struct lease_source *source, const struct ids *ids);
/* Makes ids for this long, one a millisecond, and adds them. Answers the first error. */
leafid_status make_ids(leafid_snowflake *flake, int64_t for_ms, struct ids *ids);
#ifndef _WIN32
/* The same for LEASE_MS / 2 and more, beside a forked child that closes its own; eight of the child's come here, over all that time. */
void make_ids_beside_a_child(leafid_snowflake *flake, struct ids *ids, int64_t childs[8]);
#endif

#endif
