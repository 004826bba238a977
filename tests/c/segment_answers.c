/* What comes of every answer a fetch callback can give: an error with its own text, no id of it, and the next good
   answer is used. */
#define _GNU_SOURCE
#include "counter.h"

#include <limits.h>
#include <string.h>

/* What the callback answers next. */
static leafid_segment given;

static void give(leafid_segment *segment) {
    segment->start = given.start;
    segment->end = given.end;
    segment->stride = given.stride;
}
static void give_no_start(leafid_segment *segment) {
    segment->start = -1;
}
static void give_nothing(leafid_segment *segment) {
    segment->start = -1;
    segment->end = 0;
}
static void give_cleared(leafid_segment *segment) {
    memset(segment, 0, sizeof *segment);
}

/* A callback that fails, then gives 1 to 1000. */
static void fails(int status, const char *text, leafid_status expected, const char *says) {
    struct counter *counter = counter_new();
    leafid_tag *tag = counter_tag(counter_options(counter));
    int64_t id = 42;
    char last[1200];
    counter->text = text;
    atomic_store(&counter->status, status);
    await_failure(tag);
    CHECK_STATUS(leafid_tag_next_within(tag, 60, &id), expected);
    CHECK_SAYS(says);
    CHECK_NUMBER(id, 42);
    CHECK_STATUS(leafid_tag_last_error(tag, last, sizeof last, NULL), LEAFID_OK);
    CHECK(strstr(last, says) != NULL);
    CHECK(stats_of(tag).failures > 0);
    atomic_store(&counter->status, 0);
    int64_t end = now_ms() + HANG_MS;
    while (leafid_tag_next_within(tag, 3000, &id) != LEAFID_OK && now_ms() < end) pause_ms(10);
    CHECK_NUMBER(id, 1);
    leafid_tag_free(tag);
    counter_end(counter);
}

static void failures(void) {
    static char endless[4096];
    memset(endless, 'x', sizeof endless - 1);
    fails(-1, "the table is locked", LEAFID_SEGMENT_UNAVAILABLE, "the fetch of a segment failed: the table is locked");
    fails(-1, NULL, LEAFID_SEGMENT_UNAVAILABLE, "failed: it returned -1 without a text");
    fails(99, "odd", LEAFID_SEGMENT_UNAVAILABLE, "failed: odd");
    fails(INT_MIN, "\377\376", LEAFID_SEGMENT_UNAVAILABLE, "failed: \357\277\275");
    fails(-1, endless, LEAFID_SEGMENT_UNAVAILABLE, "failed: xxxxxxxx");
    fails(LEAFID_SEGMENT_UNAVAILABLE, "busy", LEAFID_SEGMENT_UNAVAILABLE, "failed: busy");
    fails(LEAFID_STATE_IO, "no route", LEAFID_STATE_IO, "failed: no route");
    fails(LEAFID_SOURCE_INVALID, "a view", LEAFID_SOURCE_INVALID, "failed: a view");
    fails(LEAFID_SEGMENT_REGRESSED, "a replica", LEAFID_SEGMENT_REGRESSED, "failed: a replica");
    fails(LEAFID_UNKNOWN_TAG, NULL, LEAFID_UNKNOWN_TAG, "the source knows no tag \"order\"");
    fails(LEAFID_UNKNOWN_TAG, "no row", LEAFID_UNKNOWN_TAG, "failed: no row");
    /* What would say something of the call itself is none of its answers. */
    fails(LEAFID_CLOSED, "the pool was closed", LEAFID_SEGMENT_UNAVAILABLE, "failed: the pool was closed");
}

/* A range that is none, after ids up to 1000. */
static void refuses(void (*spoil)(leafid_segment *), const char *says) {
    struct counter *counter = counter_new();
    leafid_tag *tag = counter_tag(counter_options(counter));
    int64_t ids[1000], id = 42;
    /* The first is fetched alone, before its prefetch is spoilt. */
    REQUIRE_OK(leafid_tag_next(tag, ids));
    counter->spoil = spoil;
    REQUIRE_OK(leafid_tag_fill(tag, ids + 1, 999));
    CHECK_NUMBER(ids[999], 1000);
    await_failure(tag);
    CHECK_STATUS(leafid_tag_next_within(tag, 60, &id), LEAFID_SOURCE_INVALID);
    CHECK_SAYS(says);
    CHECK_NUMBER(id, 42);
    counter->spoil = NULL;
    atomic_store(&counter->next, 100000);
    CHECK_STATUS(leafid_tag_next_within(tag, PATIENT_MS, &id), LEAFID_OK);
    CHECK_NUMBER(id, 100000);
    leafid_tag_free(tag);
    counter_end(counter);
}

static void ranges(void) {
    given = (leafid_segment){0, 2000, 3000, -1, 0};
    refuses(give, "from 2000 to 3000 by -1");
    refuses(give_no_start, "from -1 to ");
    refuses(give_nothing, "from -1 to 0");
    refuses(give_cleared, "from 0 to 0");
}

static void largest_id(void) {
    struct counter *counter = counter_new();
    leafid_tag *tag = counter_tag(counter_options(counter));
    int64_t ids[2];
    given = (leafid_segment){0, INT64_MAX - 2, INT64_MAX, 0, 0};
    counter->spoil = give;
    REQUIRE_OK(leafid_tag_fill(tag, ids, 2));
    CHECK(ids[0] == INT64_MAX - 2 && ids[1] == INT64_MAX - 1);
    await_failure(tag);
    CHECK_STATUS(leafid_tag_next_within(tag, 60, ids), LEAFID_SEGMENT_REGRESSED);
    leafid_tag_free(tag);
    counter_end(counter);
}

static void hangs(void) {
    struct counter *counter = counter_new();
    leafid_segments_options *options = counter_options(counter);
    leafid_segments *segments;
    int64_t id = 42;
    atomic_store(&counter->hangs, true);
    leafid_tag *tag = counter_open(options, &segments);
    CHECK_STATUS(leafid_tag_try_next(tag, &id), LEAFID_WOULD_BLOCK);
    EVENTUALLY(atomic_load(&counter->inside) == 1);
    int64_t begun = now_ms();
    CHECK_STATUS(leafid_tag_next_within(tag, 200, &id), LEAFID_SEGMENT_UNAVAILABLE);
    CHECK_SAYS("has not answered for ");
    CHECK_STATUS(leafid_tag_next_within(tag, 50, &id), LEAFID_SEGMENT_UNAVAILABLE);
    CHECK(now_ms() - begun >= 250 && now_ms() - begun < HANG_MS / 2);
    CHECK_NUMBER(atomic_load(&counter->calls), 1);
    CHECK_NUMBER((int64_t)stats_of(tag).fetching, 1);
    /* Closed and freed with the callback inside: neither waits, and it keeps its user_data. */
    begun = now_ms();
    CHECK_STATUS(leafid_segments_close(segments), LEAFID_OK);
    leafid_tag_free(tag);
    leafid_segments_free(segments);
    CHECK(now_ms() - begun < HANG_MS / 2);
    CHECK_NUMBER(atomic_load(&counter->inside), 1);
    CHECK_NUMBER(atomic_load(&counter->freed), 0);
    atomic_store(&counter->hangs, false);
    counter_end(counter);
}

int main(void) {
    test("every failure of a fetch, and what is waited for", failures);
    test("a range that is none, and fields that were not set", ranges);
    test("the largest id", largest_id);
    test("a fetch that hangs", hangs);
    return finish();
}
