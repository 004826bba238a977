#define _GNU_SOURCE
#include "counter.h"

#include <string.h>
#include <unistd.h>

int counter_fetch(void *user_data, const char *tag, int64_t step, leafid_segment *out, char *error, size_t cap) {
    struct counter *counter = user_data;
    /* A child may end with a call under way. */
    int ours = getpid() == counter->owner;
    atomic_fetch_add(&counter->inside, ours);
    int call = atomic_fetch_add(&counter->calls, 1);
    if (call < COUNTER_STEPS) {
        counter->steps[call] = step;
        counter->after[call] = out->after;
    }
    if (call == 0) snprintf(counter->tag, sizeof counter->tag, "%s", tag);
    CHECK(out->size >= sizeof *out && out->start == -1 && out->end == 0 && out->stride == 0 && cap >= 256);
    while (atomic_load(&counter->hangs)) pause_ms(2);
    int status = atomic_load(&counter->status);
    if (status != 0) {
        if (counter->text) strncpy(error, counter->text, cap);
    } else {
        out->start = atomic_fetch_add(&counter->next, step);
        out->end = out->start + step;
        if (counter->spoil) counter->spoil(out);
    }
    atomic_fetch_sub(&counter->inside, ours);
    return status;
}

static void freed(void *user_data) {
    struct counter *counter = user_data;
    atomic_fetch_add(&counter->freed, 1);
}

struct counter *counter_new(void) {
    struct counter *counter = shared_new(sizeof *counter);
    atomic_store(&counter->next, 1);
    counter->owner = getpid();
    return counter;
}

void counter_end(struct counter *counter) {
    EVENTUALLY(atomic_load(&counter->freed) == 1);
    CHECK_NUMBER(atomic_load(&counter->inside), 0);
    if (atomic_load(&counter->freed) == 1) shared_end(counter, sizeof *counter);
}

leafid_segments_options *counter_options(struct counter *counter) {
    leafid_segments_options *options;
    REQUIRE_OK(leafid_segments_options_new(&options));
    CHECK_STATUS(leafid_segments_options_set_fetch(options, counter_fetch, counter, freed), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_name(options, fresh_name()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_state_dir(options, fresh_dir()), LEAFID_OK);
    /* Long enough for a slow machine. */
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, HANG_MS), LEAFID_OK);
    return options;
}

leafid_tag *counter_open(leafid_segments_options *options, leafid_segments **segments) {
    leafid_tag *tag;
    REQUIRE_OK(leafid_segments_open(options, segments));
    leafid_segments_options_free(options);
    REQUIRE_OK(leafid_segments_tag(*segments, "order", &tag));
    return tag;
}

leafid_tag *counter_tag(leafid_segments_options *options) {
    leafid_segments *segments;
    leafid_tag *tag = counter_open(options, &segments);
    leafid_segments_free(segments);
    return tag;
}

void await_failure(const leafid_tag *tag) {
    int64_t id;
    leafid_status status = leafid_tag_try_next(tag, &id);
    CHECK(status == LEAFID_WOULD_BLOCK || status == LEAFID_UNKNOWN_TAG);
    EVENTUALLY(stats_of(tag).failures > 0);
}

leafid_tag_stats_t stats_of(const leafid_tag *tag) {
    leafid_tag_stats_t stats = {0};
    CHECK_STATUS(leafid_tag_stats(tag, &stats, sizeof stats), LEAFID_OK);
    return stats;
}
