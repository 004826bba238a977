/* Bad arguments and options of segments: an error that names the argument, its value and what is allowed; no crash. */
#define _GNU_SOURCE
#include "counter.h"
#include "tags.inc"

#include <stdlib.h>
#include <string.h>

static struct counter *counter;
static leafid_segments_options *options;
static leafid_segments *segments;
static leafid_tag *tag;

/* Every pointer of every function as NULL, the others valid: tables.py makes the calls from the header. */
static void null_pointers(void) {
    int64_t places[64];
    void *const room = memset(places, 42, sizeof places);
#include "segment_null_calls.inc"

    /* Those that allow it. */
    leafid_segments_options_free(NULL);
    leafid_segments_free(NULL);
    leafid_tag_free(NULL);
    CHECK_STATUS(leafid_segments_name(segments, NULL, 0, NULL), LEAFID_OK);
    CHECK_STATUS(leafid_tag_name(tag, NULL, 0, NULL), LEAFID_OK);
    /* Nothing was written by all those refusals, and no id taken. */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) CHECK_NUMBER(places[i], 0x2a2a2a2a2a2a2a2a);
    CHECK_NUMBER(atomic_load(&counter->calls), 0);
}

static void wild_numbers(void) {
    char room[4 * sizeof(int64_t)] = {0};
    /* Through an integer: C has no such pointer, a wrong cast somewhere does. */
    int64_t *odd = (int64_t *)((uintptr_t)room / 8 * 8 + 9), few[4] = {1, 2, 3, 4}, *taken = few, id = 42;
    CHECK_STATUS(leafid_tag_next(tag, odd), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("misaligned");
    CHECK_STATUS(leafid_tag_fill(tag, odd, 2), LEAFID_INVALID_ARGUMENT);
    const size_t counts[] = {(size_t)-1, SIZE_MAX / 8, (size_t)1 << 40, ((size_t)1 << 24) + 1};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char shown[64];
        snprintf(shown, sizeof shown, "n is %zu; allowed: ", counts[i]);
        CHECK_STATUS(leafid_tag_fill(tag, few, counts[i]), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(shown);
        CHECK_STATUS(leafid_tag_fill_within(tag, 1, few, counts[i]), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(shown);
        CHECK_STATUS(leafid_tag_take(tag, counts[i], &taken), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(shown);
    }
    const int64_t times[] = {0, -1, 3600001, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        CHECK_STATUS(leafid_tag_next_within(tag, times[i], &id), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("timeout_ms is ");
        CHECK_STATUS(leafid_tag_fill_within(tag, times[i], few, 1), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("timeout_ms is ");
    }
    CHECK(taken == few && few[0] == 1 && few[3] == 4 && id == 42);
    CHECK_NUMBER(atomic_load(&counter->calls), 0);
}

static void names_of_tags(void) {
    char shown[200];
    leafid_tag *made = NULL;
    for (size_t i = 0; i < sizeof tag_names / sizeof *tag_names; i++) {
        if (tag_names[i].refused) {
            CHECK_STATUS(leafid_segments_tag(segments, tag_names[i].tag, &made), LEAFID_INVALID_ARGUMENT);
            CHECK_SAYS("tag is \"");
            CHECK_SAYS("; allowed: ");
            CHECK(made == NULL);
            continue;
        }
        REQUIRE_OK(leafid_segments_tag(segments, tag_names[i].tag, &made));
        CHECK_STATUS(leafid_tag_name(made, shown, sizeof shown, NULL), LEAFID_OK);
        CHECK(strcmp(shown, tag_names[i].tag) == 0);
        leafid_tag_free(made);
        made = NULL;
    }
    const char *const no_text[] = {"\377", "a\303", "\355\240\200"};
    for (size_t i = 0; i < sizeof no_text / sizeof *no_text; i++) {
        CHECK_STATUS(leafid_segments_tag(segments, no_text[i], &made), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("which is not UTF-8");
    }
    CHECK(made == NULL);
}

static void stats_of_other_versions(void) {
    struct {
        leafid_tag_stats_t known;
        int64_t later[4];
        int64_t beyond;
    } newer = {.later = {1, 2, 3, 4}, .beyond = 5};
    const size_t first_version = 88;
    const size_t wrong[] = {0, 1, first_version - 1, SIZE_MAX, (size_t)1 << 40};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(leafid_tag_stats(tag, &newer.known, wrong[i]), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("size is ");
    }
    CHECK_STATUS(leafid_tag_stats(tag, &newer.known, sizeof newer.known + sizeof newer.later), LEAFID_OK);
    CHECK_NUMBER(newer.known.step, 1000);
    for (int i = 0; i < 4; i++) CHECK_NUMBER(newer.later[i], 0);
    CHECK_NUMBER(newer.beyond, 5);
}

static void closed_handles(void) {
    struct counter *given = counter_new();
    leafid_segments_options *set = counter_options(given);
    leafid_segments *closed;
    leafid_tag *its, *other = NULL;
    int64_t id = 42, *taken = NULL;
    leafid_tag_stats_t stats;
    char text[64];
    REQUIRE_OK(leafid_segments_open(set, &closed));
    leafid_segments_options_free(set);
    REQUIRE_OK(leafid_segments_tag(closed, "order", &its));
    CHECK_STATUS(leafid_tag_next(its, &id), LEAFID_OK);
    for (int twice = 0; twice < 2; twice++) CHECK_STATUS(leafid_segments_close(closed), LEAFID_OK);
    CHECK_STATUS(leafid_tag_next(its, &id), LEAFID_CLOSED);
    CHECK_STATUS(leafid_tag_next_within(its, 1000, &id), LEAFID_CLOSED);
    CHECK_STATUS(leafid_tag_try_next(its, &id), LEAFID_CLOSED);
    CHECK_STATUS(leafid_tag_fill(its, &id, 1), LEAFID_CLOSED);
    CHECK_STATUS(leafid_tag_take(its, 1, &taken), LEAFID_CLOSED);
    CHECK_STATUS(leafid_tag_last_error(its, text, sizeof text, NULL), LEAFID_CLOSED);
    CHECK_STATUS(leafid_tag_stats(its, &stats, sizeof stats), LEAFID_CLOSED);
    CHECK_STATUS(leafid_segments_tag(closed, "order", &other), LEAFID_CLOSED);
    CHECK_STATUS(leafid_segments_name(closed, text, sizeof text, NULL), LEAFID_CLOSED);
    CHECK_STATUS(leafid_segments_tags(closed, text, sizeof text, NULL), LEAFID_CLOSED);
    CHECK_STATUS(leafid_tag_name(its, text, sizeof text, NULL), LEAFID_OK);
    CHECK(id == 1 && taken == NULL && other == NULL && strcmp(text, "order") == 0);
    leafid_segments_free(closed);
    leafid_tag_free(its);
    counter_end(given);
}

static void user_data_unused(void) {
    struct counter *given = counter_new();
    leafid_segments_options *set = counter_options(given);
    /* Replaced: given back; so is what is refused. counter_end waits for the last one. */
    CHECK_STATUS(leafid_segments_options_set_fetch(set, counter_fetch, NULL, NULL), LEAFID_OK);
    CHECK_NUMBER(atomic_load(&given->freed), 1);
    leafid_segments_options_free(set);
    counter_end(given);
}

int main(void) {
    counter = counter_new();
    options = counter_options(counter);
    if (leafid_segments_open(options, &segments) != LEAFID_OK) return 2;
    if (leafid_segments_tag(segments, "order", &tag) != LEAFID_OK) return 2;
    test("segments: NULL for every pointer", null_pointers);
    test("segments: numbers and pointers that are none", wild_numbers);
    test("names of tags", names_of_tags);
    test("stats of callers compiled with another header", stats_of_other_versions);
    test("closed segments refuse, and close again", closed_handles);
    test("a user_data that comes to no use is given back", user_data_unused);
    leafid_tag_free(tag);
    leafid_segments_free(segments);
    leafid_segments_options_free(options);
    return finish();
}
