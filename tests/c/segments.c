/* Segments from a callback, by each call. When they are fetched, tests/scenarios has. */
#define _GNU_SOURCE
#include "counter.h"

#include <stdlib.h>
#include <string.h>

/* Options of a fixed step. */
static leafid_segments_options *stepping(struct counter *counter, int64_t step) {
    leafid_segments_options *options = counter_options(counter);
    CHECK_STATUS(leafid_segments_options_set_step(options, step), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_adaptive(options, 0), LEAFID_OK);
    return options;
}

static void batches(void) {
    struct counter *counter = counter_new();
    leafid_tag *tag = counter_tag(stepping(counter, 10));
    int64_t ids[1000], *taken;
    /* All at once where the source gives it. */
    REQUIRE_OK(leafid_tag_fill(tag, ids, 25));
    for (int i = 0; i < 25; i++) CHECK_NUMBER(ids[i], i + 1);
    CHECK_NUMBER(counter->steps[0], 25);
    /* Over several segments. */
    REQUIRE_OK(leafid_tag_take(tag, 1000, &taken));
    for (int i = 0; i < 1000; i++) CHECK_NUMBER(taken[i], 26 + i);
    leafid_ids_free(taken, 1000);
    REQUIRE_OK(leafid_tag_fill_within(tag, PATIENT_MS, ids, 1000));
    for (int i = 0; i < 1000; i++) CHECK_NUMBER(ids[i], 1026 + i);
    leafid_tag_free(tag);
    counter_end(counter);
}

static void never_waits(void) {
    struct counter *counter = counter_new();
    leafid_tag *tag = counter_tag(stepping(counter, 3));
    int64_t id = 42;
    atomic_store(&counter->hangs, true);
    for (int i = 0; i < 100; i++) CHECK_STATUS(leafid_tag_try_next(tag, &id), LEAFID_WOULD_BLOCK);
    CHECK_SAYS("no id of the tag \"order\" is at hand");
    CHECK_NUMBER(id, 42);
    EVENTUALLY(atomic_load(&counter->calls) == 1);
    atomic_store(&counter->hangs, false);
    EVENTUALLY(stats_of(tag).left == 3);
    CHECK_STATUS(leafid_tag_try_next(tag, &id), LEAFID_OK);
    CHECK_NUMBER(id, 1);
    leafid_tag_free(tag);
    counter_end(counter);
}

/* Of add_prewarm and set_prewarm_last_day the last call counts. */
static void prewarms(void) {
    struct counter *counter = counter_new();
    leafid_segments_options *options = counter_options(counter);
    leafid_segments *segments;
    leafid_tag *tag;
    char tags[64];
    size_t needed = 0;
    CHECK_STATUS(leafid_segments_options_set_prewarm_last_day(options, 1), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_prewarm(options, "order"), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_prewarm(options, "a"), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &segments));
    EVENTUALLY(atomic_load(&counter->calls) == 2);
    REQUIRE_OK(leafid_segments_tag(segments, "order", &tag));
    CHECK_STATUS(leafid_segments_tags(segments, tags, sizeof tags, &needed), LEAFID_OK);
    CHECK(strcmp(tags, "a\norder\n") == 0 && needed == 8);
    /* Its answer is taken, and so remembered. */
    EVENTUALLY(stats_of(tag).left == 1000);
    leafid_tag_free(tag);
    leafid_segments_free(segments);
    CHECK_STATUS(leafid_segments_options_set_prewarm_last_day(options, 0), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &segments));
    leafid_segments_free(segments);
    CHECK_NUMBER(atomic_load(&counter->calls), 2);
    CHECK_STATUS(leafid_segments_options_set_prewarm_last_day(options, 1), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &segments));
    EVENTUALLY(atomic_load(&counter->calls) > 2);
    leafid_segments_free(segments);
    leafid_segments_options_free(options);
    counter_end(counter);
}

static void texts(void) {
    struct counter *counter = counter_new();
    leafid_segments_options *options = counter_options(counter);
    char text[512], name[64], *metrics;
    size_t needed = 0;
    leafid_segments *segments;
    leafid_tag *tag, *again;
    snprintf(name, sizeof name, "%s", fresh_name());
    CHECK_STATUS(leafid_segments_options_set_name(options, name), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &segments));
    leafid_segments_options_free(options);
    CHECK_STATUS(leafid_segments_name(segments, text, sizeof text, &needed), LEAFID_OK);
    CHECK(strcmp(text, name) == 0 && needed == strlen(name));
    CHECK_STATUS(leafid_segments_source(segments, text, sizeof text, NULL), LEAFID_OK);
    CHECK(strcmp(text, "callback") == 0);
    CHECK_STATUS(leafid_segments_state_dir(segments, text, sizeof text, &needed), LEAFID_OK);
    CHECK(strstr(text, name) != NULL);
    CHECK_STATUS(leafid_segments_tags(segments, text, sizeof text, &needed), LEAFID_OK);
    CHECK_NUMBER((int64_t)needed, 0);

    /* Two handles of one name are one tag; other names are other tags. */
    int64_t a = -1, b = -1;
    REQUIRE_OK(leafid_segments_tag(segments, "Gr\303\274\303\237e / 2026", &tag));
    REQUIRE_OK(leafid_segments_tag(segments, "Gr\303\274\303\237e / 2026", &again));
    CHECK_STATUS(leafid_tag_name(tag, text, sizeof text, &needed), LEAFID_OK);
    CHECK(strcmp(text, "Gr\303\274\303\237e / 2026") == 0);
    CHECK_STATUS(leafid_tag_next(tag, &a), LEAFID_OK);
    CHECK_STATUS(leafid_tag_next(again, &b), LEAFID_OK);
    CHECK(a == 1 && b == 2);
    CHECK(strcmp(counter->tag, "Gr\303\274\303\237e / 2026") == 0);
    CHECK_NUMBER(stats_of(tag).current_start, 3);
    CHECK_NUMBER(stats_of(again).current_end, 1001);
    CHECK_NUMBER((int64_t)stats_of(tag).left, 998);
    CHECK_NUMBER((int64_t)stats_of(tag).ids, 2);
    CHECK_NUMBER((int64_t)stats_of(tag).fetches, 1);
    CHECK_NUMBER((int64_t)stats_of(tag).waits, 1);
    leafid_tag_free(again);
    CHECK_STATUS(leafid_tag_last_error(tag, text, sizeof text, &needed), LEAFID_OK);
    CHECK_NUMBER((int64_t)needed, 0);
    CHECK_STATUS(leafid_metrics(NULL, 0, &needed), LEAFID_OK);
    metrics = malloc(needed + 4096);
    REQUIRE(metrics != NULL);
    CHECK_STATUS(leafid_metrics(metrics, needed + 4096, NULL), LEAFID_OK);
    snprintf(text, sizeof text, "leafid_segment_left{name=\"%s\"", name);
    CHECK(strstr(metrics, text) != NULL);
    free(metrics);
    leafid_segments_free(segments);
    /* The tag holds what it needs. */
    CHECK_STATUS(leafid_tag_next(tag, &a), LEAFID_OK);
    CHECK_NUMBER(a, 3);
    CHECK_NUMBER(atomic_load(&counter->freed), 0);
    leafid_tag_free(tag);
    counter_end(counter);
}

int main(void) {
    test("many ids at once", batches);
    test("try_next never waits", never_waits);
    test("which tags are fetched before their first use", prewarms);
    test("names, texts and numbers; a tag outlives its segments", texts);
    return finish();
}
