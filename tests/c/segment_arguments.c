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

/* Every pointer of every function as NULL, the others valid. */
static void null_pointers(void) {
    int64_t id = 42, *taken = &id;
    leafid_tag *other = NULL;
    leafid_tag_stats_t stats;
    char text[64];
    size_t needed = 42;

#define REFUSES_NULL(name, call) \
    CHECK_STATUS(call, LEAFID_INVALID_ARGUMENT); \
    CHECK_SAYS(name " is NULL; allowed: ")
#define SET(setter, ...) leafid_segments_options_##setter(NULL, __VA_ARGS__)
    REFUSES_NULL("out", leafid_segments_options_new(NULL));
    REFUSES_NULL("options", SET(add_server, "http://127.0.0.1:1"));
    REFUSES_NULL("options", SET(set_fetch, counter_fetch, NULL, NULL));
    REFUSES_NULL("options", SET(set_protocol, LEAFID_PROTOCOL_RANGE));
    REFUSES_NULL("options", SET(set_step, 1));
    REFUSES_NULL("options", SET(set_adaptive, 1));
    REFUSES_NULL("options", SET(set_prefetch, 1));
    REFUSES_NULL("options", SET(set_timeout_ms, 1));
    REFUSES_NULL("options", SET(set_request_timeout_ms, 1));
    REFUSES_NULL("options", SET(set_connect_timeout_ms, 1));
    REFUSES_NULL("options", SET(set_connections, 1));
    REFUSES_NULL("options", SET(set_block_size, 2));
    REFUSES_NULL("options", SET(set_token, "a"));
    REFUSES_NULL("options", SET(add_header, "a", "b"));
    REFUSES_NULL("options", SET(set_ca_file, "a"));
    REFUSES_NULL("options", SET(set_name, "a"));
    REFUSES_NULL("options", SET(set_state_dir, "a"));
    REFUSES_NULL("options", SET(set_persist, 1));
    REFUSES_NULL("options", SET(set_shared_fs, 1));
    REFUSES_NULL("options", SET(set_shared_group, 1));
    REFUSES_NULL("options", SET(add_file_tag, "a", 1, 1));
    REFUSES_NULL("options", SET(set_create, 1));
    REFUSES_NULL("options", SET(add_prewarm, "a"));
    REFUSES_NULL("options", SET(set_prewarm_last_day, 1));
    REFUSES_NULL("options", SET(set_keep_unused, 1));
    REFUSES_NULL("options", SET(set_ordered_source, 1));
#undef SET
#define SET(setter, ...) leafid_segments_options_##setter(options, __VA_ARGS__)
    REFUSES_NULL("servers", SET(add_server, NULL));
    REFUSES_NULL("fetch", SET(set_fetch, NULL, NULL, NULL));
    REFUSES_NULL("token", SET(set_token, NULL));
    REFUSES_NULL("headers", SET(add_header, NULL, "b"));
    REFUSES_NULL("headers", SET(add_header, "a", NULL));
    REFUSES_NULL("ca_file", SET(set_ca_file, NULL));
    REFUSES_NULL("name", SET(set_name, NULL));
    REFUSES_NULL("state_dir", SET(set_state_dir, NULL));
    REFUSES_NULL("tag", SET(add_file_tag, NULL, 1, 1));
    REFUSES_NULL("tag", SET(add_prewarm, NULL));
#undef SET
    REFUSES_NULL("options", leafid_segments_open(NULL, &segments));
    REFUSES_NULL("out", leafid_segments_open(options, NULL));
    REFUSES_NULL("segments", leafid_segments_tag(NULL, "a", &other));
    REFUSES_NULL("tag", leafid_segments_tag(segments, NULL, &other));
    REFUSES_NULL("out", leafid_segments_tag(segments, "a", NULL));
    REFUSES_NULL("segments", leafid_segments_close(NULL));
    REFUSES_NULL("segments", leafid_segments_name(NULL, text, sizeof text, &needed));
    REFUSES_NULL("segments", leafid_segments_source(NULL, text, sizeof text, &needed));
    REFUSES_NULL("segments", leafid_segments_state_dir(NULL, text, sizeof text, &needed));
    REFUSES_NULL("segments", leafid_segments_tags(NULL, text, sizeof text, &needed));
    REFUSES_NULL("buf", leafid_segments_name(segments, NULL, 1, &needed));
    REFUSES_NULL("buf", leafid_segments_source(segments, NULL, 1, &needed));
    REFUSES_NULL("buf", leafid_segments_state_dir(segments, NULL, 1, &needed));
    REFUSES_NULL("buf", leafid_segments_tags(segments, NULL, 1, &needed));
    REFUSES_NULL("tag", leafid_tag_next(NULL, &id));
    REFUSES_NULL("out", leafid_tag_next(tag, NULL));
    REFUSES_NULL("tag", leafid_tag_next_within(NULL, 1, &id));
    REFUSES_NULL("out", leafid_tag_next_within(tag, 1, NULL));
    REFUSES_NULL("tag", leafid_tag_try_next(NULL, &id));
    REFUSES_NULL("out", leafid_tag_try_next(tag, NULL));
    REFUSES_NULL("tag", leafid_tag_fill(NULL, &id, 1));
    REFUSES_NULL("out", leafid_tag_fill(tag, NULL, 1));
    REFUSES_NULL("tag", leafid_tag_fill_within(NULL, 1, &id, 1));
    REFUSES_NULL("out", leafid_tag_fill_within(tag, 1, NULL, 1));
    REFUSES_NULL("tag", leafid_tag_take(NULL, 1, &taken));
    REFUSES_NULL("out", leafid_tag_take(tag, 1, NULL));
    REFUSES_NULL("tag", leafid_tag_stats(NULL, &stats, sizeof stats));
    REFUSES_NULL("out", leafid_tag_stats(tag, NULL, sizeof stats));
    REFUSES_NULL("tag", leafid_tag_name(NULL, text, sizeof text, &needed));
    REFUSES_NULL("tag", leafid_tag_last_error(NULL, text, sizeof text, &needed));
    REFUSES_NULL("buf", leafid_tag_name(tag, NULL, 1, &needed));
    REFUSES_NULL("buf", leafid_tag_last_error(tag, NULL, 1, &needed));

    /* Those that allow it. */
    leafid_segments_options_free(NULL);
    leafid_segments_free(NULL);
    leafid_tag_free(NULL);
    CHECK_STATUS(leafid_segments_name(segments, NULL, 0, NULL), LEAFID_OK);
    CHECK_STATUS(leafid_tag_name(tag, NULL, 0, &needed), LEAFID_OK);
    /* Nothing was written by all those refusals, and no id taken. */
    CHECK_NUMBER(id, 42);
    CHECK(taken == &id && other == NULL);
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
