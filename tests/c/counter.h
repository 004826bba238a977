/* A counter in memory, as a database has one for each tag: it gives segments, remembers what it was asked, and fails
   on command. */
#ifndef LEAFID_TESTS_COUNTER_H
#define LEAFID_TESTS_COUNTER_H

#include "check.h"

#include <stdatomic.h>

#define COUNTER_STEPS 64

struct counter {
    /* The next id, of all tags together. */
    _Atomic int64_t next;
    /* An answer is not given before this is false. */
    atomic_bool hangs;
    /* What is answered instead, with `text` if there is one; 0: a segment. */
    atomic_int status;
    const char *text;
    /* Changes an answer before it is given. */
    void (*spoil)(leafid_segment *segment);

    atomic_int calls, freed;
    /* Calls under way in the process that made it. */
    atomic_int inside;
    pid_t owner;
    /* What the first calls were asked for. */
    int64_t steps[COUNTER_STEPS], after[COUNTER_STEPS];
    /* Of the first one. */
    char tag[160];
};

/* In memory that children share, with ids from 1. Given back by counter_end, after the last call of it. */
struct counter *counter_new(void);
void counter_end(struct counter *counter);
/* A fetch callback, whose user_data is a counter. */
int counter_fetch(void *user_data, const char *tag, int64_t step, leafid_segment *out, char *error, size_t cap);
/* Options whose segments it gives, in an id space and a state directory of their own. */
leafid_segments_options *counter_options(struct counter *counter);
/* Opens with the options, gives them back, and answers the tag "order". */
leafid_tag *counter_open(leafid_segments_options *options, leafid_segments **segments);
/* The same; the segments are freed with the tag. */
leafid_tag *counter_tag(leafid_segments_options *options);
/* Has a segment fetched, and waits until the source's answer was a failure, which the next call to time out tells. */
void await_failure(const leafid_tag *tag);
/* How the tag stands. */
leafid_tag_stats_t stats_of(const leafid_tag *tag);

#endif
