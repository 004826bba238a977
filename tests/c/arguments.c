/* Bad options and arguments of every kind: an error that names the option, its value and what is allowed; no crash. */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static leafid_snowflake_options *options;
static leafid_snowflake *flake;

/* Every pointer of every function as NULL, the others valid. */
static void null_pointers(void) {
    int64_t id = 42, *taken = &id;
    uint32_t worker = 42;
    leafid_parts parts;
    leafid_layout layout;
    leafid_snowflake_stats_t stats;
    leafid_snowflake *none = NULL;
    char text[8];
    size_t needed = 42;
    REQUIRE_OK(leafid_layout_parse("leaf", &layout));

#define REFUSES_NULL(name, call) \
    CHECK_STATUS(call, LEAFID_INVALID_ARGUMENT); \
    CHECK_SAYS(name " is NULL; allowed: ")
    REFUSES_NULL("layout", leafid_layout_parse(NULL, &layout));
    REFUSES_NULL("out", leafid_layout_parse("leaf", NULL));
    REFUSES_NULL("out", leafid_layout_expires_at_ms(&layout, NULL));
    REFUSES_NULL("out", leafid_decode(1, NULL, NULL));
    REFUSES_NULL("id", leafid_decode_text(NULL, NULL, &parts));
    REFUSES_NULL("out", leafid_decode_text("1", NULL, NULL));
    REFUSES_NULL("out", leafid_compose(1600000000000, 1, 1, NULL, NULL));
    REFUSES_NULL("out", leafid_snowflake_options_new(NULL));
    REFUSES_NULL("options", leafid_snowflake_options_set_worker(NULL, "1"));
    REFUSES_NULL("options", leafid_snowflake_options_set_worker_id(NULL, 1));
    REFUSES_NULL("options", leafid_snowflake_options_set_worker_range(NULL, 1, 2));
    REFUSES_NULL("options", leafid_snowflake_options_set_name(NULL, "a"));
    REFUSES_NULL("options", leafid_snowflake_options_set_state_dir(NULL, "a"));
    REFUSES_NULL("options", leafid_snowflake_options_set_layout(NULL, "leaf"));
    REFUSES_NULL("options", leafid_snowflake_options_set_layout_fields(NULL, &layout));
    REFUSES_NULL("options", leafid_snowflake_options_set_epoch_ms(NULL, 1));
    REFUSES_NULL("options", leafid_snowflake_options_set_on_clock_backwards(NULL, 0));
    REFUSES_NULL("options", leafid_snowflake_options_set_max_backwards_ms(NULL, 1));
    REFUSES_NULL("options", leafid_snowflake_options_set_on_exhausted(NULL, 0));
    REFUSES_NULL("options", leafid_snowflake_options_set_random_start(NULL, 1));
    REFUSES_NULL("options", leafid_snowflake_options_set_timeout_ms(NULL, 1));
    REFUSES_NULL("worker", leafid_snowflake_options_set_worker(options, NULL));
    REFUSES_NULL("name", leafid_snowflake_options_set_name(options, NULL));
    REFUSES_NULL("state_dir", leafid_snowflake_options_set_state_dir(options, NULL));
    REFUSES_NULL("layout", leafid_snowflake_options_set_layout(options, NULL));
    REFUSES_NULL("layout", leafid_snowflake_options_set_layout_fields(options, NULL));
    REFUSES_NULL("out", leafid_snowflake_open(options, NULL));
    REFUSES_NULL("flake", leafid_snowflake_next(NULL, &id));
    REFUSES_NULL("out", leafid_snowflake_next(flake, NULL));
    REFUSES_NULL("flake", leafid_snowflake_fill(NULL, &id, 1));
    REFUSES_NULL("out", leafid_snowflake_fill(flake, NULL, 1));
    REFUSES_NULL("flake", leafid_snowflake_take(NULL, 1, &taken));
    REFUSES_NULL("out", leafid_snowflake_take(flake, 1, NULL));
    REFUSES_NULL("flake", leafid_snowflake_close(NULL));
    REFUSES_NULL("flake", leafid_snowflake_stats(NULL, &stats, sizeof stats));
    REFUSES_NULL("out", leafid_snowflake_stats(flake, NULL, sizeof stats));
    REFUSES_NULL("flake", leafid_snowflake_worker_id(NULL, &worker));
    REFUSES_NULL("out", leafid_snowflake_worker_id(flake, NULL));
    REFUSES_NULL("flake", leafid_snowflake_layout(NULL, &layout));
    REFUSES_NULL("out", leafid_snowflake_layout(flake, NULL));
    REFUSES_NULL("flake", leafid_snowflake_name(NULL, text, sizeof text, &needed));
    REFUSES_NULL("flake", leafid_snowflake_state_dir(NULL, text, sizeof text, &needed));
    REFUSES_NULL("flake", leafid_snowflake_last_error(NULL, text, sizeof text, &needed));
    REFUSES_NULL("buf", leafid_snowflake_name(flake, NULL, 1, &needed));
    REFUSES_NULL("buf", leafid_snowflake_state_dir(flake, NULL, 1, &needed));
    REFUSES_NULL("buf", leafid_snowflake_last_error(flake, NULL, 1, &needed));

    /* Those that allow it. */
    leafid_snowflake_options_free(NULL);
    leafid_snowflake_free(none);
    leafid_ids_free(NULL, 5);
    CHECK_STATUS(leafid_snowflake_name(flake, NULL, 0, &needed), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_name(flake, NULL, 0, NULL), LEAFID_OK);
    /* Nothing was written by all those refusals. */
    CHECK_NUMBER(id, 42);
    CHECK_NUMBER(worker, 42);
    CHECK(taken == &id);
}

static void misaligned_pointers(void) {
    char room[4 * sizeof(int64_t)] = {0};
    /* Through an integer: C has no such pointer, a wrong cast somewhere does. */
    int64_t *odd = (int64_t *)((uintptr_t)room / 8 * 8 + 9);
    CHECK_STATUS(leafid_snowflake_next(flake, odd), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("misaligned");
    CHECK_STATUS(leafid_snowflake_fill(flake, odd, 2), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_decode(1, (const leafid_layout *)odd, (leafid_parts *)room), LEAFID_INVALID_ARGUMENT);
}

static void counts(void) {
    int64_t few[4] = {1, 2, 3, 4}, *taken = few;
    const size_t wrong[] = {0, (size_t)-1, SIZE_MAX / 8, (size_t)1 << 40, ((size_t)1 << 24) + 1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char shown[64];
        snprintf(shown, sizeof shown, "n is %zu; allowed: ", wrong[i]);
        CHECK_STATUS(leafid_snowflake_fill(flake, few, wrong[i]), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(shown);
        CHECK_STATUS(leafid_snowflake_take(flake, wrong[i], &taken), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(shown);
    }
    CHECK(taken == few);
    CHECK(few[0] == 1 && few[1] == 2 && few[2] == 3 && few[3] == 4);
}

static void parts(void) {
    int64_t id = 42;
    leafid_parts parts;
    const int64_t wrong[] = {-1, 4096, INT64_C(1) << 32, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(leafid_compose(1600000000000, wrong[i], 0, NULL, &id), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("worker_id is ");
        CHECK_SAYS("0 to 1023");
        CHECK_STATUS(leafid_compose(1600000000000, 0, wrong[i], NULL, &id), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("sequence is ");
        CHECK_SAYS("0 to 4095");
    }
    CHECK_STATUS(leafid_compose(INT64_MIN, 0, 0, NULL, &id), LEAFID_BEFORE_EPOCH);
    CHECK_STATUS(leafid_compose(-1, 0, 0, NULL, &id), LEAFID_BEFORE_EPOCH);
    CHECK_STATUS(leafid_compose(INT64_MAX, 0, 0, NULL, &id), LEAFID_TIME_EXHAUSTED);
    CHECK_NUMBER(id, 42);
    CHECK_STATUS(leafid_decode(INT64_MIN, NULL, &parts), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_decode_text("\377\376", NULL, &parts), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("UTF-8");
    char *huge = malloc(1 << 20);
    REQUIRE(huge != NULL);
    memset(huge, '9', (1 << 20) - 1);
    huge[(1 << 20) - 1] = '\0';
    CHECK_STATUS(leafid_decode_text(huge, NULL, &parts), LEAFID_INVALID_ARGUMENT);
    free(huge);
}

static void layouts(void) {
    leafid_layout leaf, layout;
    int64_t out = 42;
    const char *const texts[] = {"",       "Leaf",        "41|10",      "41|10|12|0", "41|10|13", "0|10|12",
                                 "a|b|c",  "-1|10|12",    "41 |10|12",  "63|0|0",     "41|32|0",  "41|0|32",
                                 "leaf\n", "\303\244",    "041|10|12",  "||",         "62|1|0",   "1e1|2|3"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_STATUS(leafid_layout_parse(texts[i], &layout), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("; allowed: ");
    }
    REQUIRE_OK(leafid_layout_parse("leaf", &leaf));
#define REFUSES_FIELD(field, value) \
    layout = leaf; \
    layout.field = (value); \
    CHECK_STATUS(leafid_layout_expires_at_ms(&layout, &out), LEAFID_INVALID_ARGUMENT); \
    CHECK_SAYS("; allowed: ")
    REFUSES_FIELD(epoch_ms, -1);
    REFUSES_FIELD(epoch_ms, INT64_MAX);
    REFUSES_FIELD(tick_ms, 0);
    REFUSES_FIELD(tick_ms, INT64_MIN);
    REFUSES_FIELD(tick_ms, 3600001);
    REFUSES_FIELD(timestamp_bits, 0);
    REFUSES_FIELD(timestamp_bits, INT32_MAX);
    REFUSES_FIELD(worker_bits, -1);
    REFUSES_FIELD(worker_bits, 11);
    REFUSES_FIELD(sequence_bits, 32);
    REFUSES_FIELD(sequence_bits, INT32_MIN);
    REFUSES_FIELD(order, 2);
    CHECK_SAYS("order is 2");
    REFUSES_FIELD(order, -1);
    CHECK_NUMBER(out, 42);
}

/* Options that a setter or open refuses: open says so in every case, with the option's name and value. */
static void refused_by_open(const char *option, const char *value, leafid_status (*set)(leafid_snowflake_options *)) {
    leafid_snowflake_options *bad = options_for(fresh_dir(), fresh_name(), "1");
    leafid_snowflake *opened = NULL;
    leafid_status first = set(bad);
    char setter_text[1024] = "", open_text[1024], expected[256];
    if (first != LEAFID_OK) leafid_last_error(setter_text, sizeof setter_text);
    CHECK(first == LEAFID_OK || first == LEAFID_INVALID_ARGUMENT);
    if (!CHECK_STATUS(leafid_snowflake_open(bad, &opened), LEAFID_INVALID_ARGUMENT)) {
        fprintf(stderr, "  for %s = %s\n", option, value);
        leafid_snowflake_free(opened);
    }
    CHECK(opened == NULL);
    leafid_last_error(open_text, sizeof open_text);
    if (first != LEAFID_OK) CHECK(strcmp(open_text, setter_text) == 0);
    snprintf(expected, sizeof expected, "%s is %s", option, value);
    CHECK_SAYS(expected);
    CHECK_SAYS("; allowed: ");
    leafid_snowflake_options_free(bad);
}

#define OPTION(function, setter, ...) \
    static leafid_status function(leafid_snowflake_options *bad) { \
        return leafid_snowflake_options_set_##setter(bad, __VA_ARGS__); \
    }
OPTION(worker_1024, worker_id, 1024)
OPTION(worker_negative, worker_id, -1)
OPTION(worker_max, worker_id, INT64_MAX)
OPTION(worker_text_1024, worker, "1024")
OPTION(worker_empty, worker, "")
OPTION(worker_words, worker, "seven")
OPTION(worker_signed, worker, "+7")
OPTION(worker_spaced, worker, " 7")
OPTION(worker_float, worker, "7.0")
OPTION(worker_huge, worker, "18446744073709551616")
OPTION(worker_step, worker, "0-31-2")
OPTION(worker_half, worker, "0-")
OPTION(worker_backwards, worker, "31-0")
OPTION(worker_not_utf8, worker, "\377")
OPTION(range_backwards, worker_range, 5, 4)
OPTION(range_negative, worker_range, -1, 4)
OPTION(range_too_far, worker_range, 0, 1024)
OPTION(range_wild, worker_range, INT64_MIN, INT64_MAX)
OPTION(name_empty, name, "")
OPTION(name_slash, name, "a/b")
OPTION(name_dot, name, "..")
OPTION(name_long, name, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
OPTION(name_not_utf8, name, "a\377")
OPTION(state_dir_empty, state_dir, "")
OPTION(layout_64_bits, layout, "42|10|12")
OPTION(layout_words, layout, "leaves")
OPTION(epoch_negative, epoch_ms, -1)
OPTION(epoch_ahead, epoch_ms, INT64_C(4102444800000))
OPTION(epoch_max, epoch_ms, INT64_MAX)
OPTION(backwards_7, on_clock_backwards, 7)
OPTION(backwards_negative, on_clock_backwards, -1)
OPTION(max_backwards_99, max_backwards_ms, 99)
OPTION(max_backwards_negative, max_backwards_ms, -1)
OPTION(max_backwards_max, max_backwards_ms, INT64_MAX)
OPTION(exhausted_2, on_exhausted, 2)
OPTION(random_negative, random_start, -1)
OPTION(random_max, random_start, INT64_MAX)
OPTION(timeout_0, timeout_ms, 0)
OPTION(timeout_negative, timeout_ms, -5)
OPTION(timeout_max, timeout_ms, INT64_MAX)

static void bad_options(void) {
    refused_by_open("worker", "1024", worker_1024);
    refused_by_open("worker", "-1", worker_negative);
    refused_by_open("worker", "9223372036854775807", worker_max);
    refused_by_open("worker", "\"1024\"", worker_text_1024);
    refused_by_open("worker", "\"\"", worker_empty);
    refused_by_open("worker", "\"seven\"", worker_words);
    refused_by_open("worker", "\"+7\"", worker_signed);
    refused_by_open("worker", "\" 7\"", worker_spaced);
    refused_by_open("worker", "\"7.0\"", worker_float);
    refused_by_open("worker", "\"18446744073709551616\"", worker_huge);
    refused_by_open("worker", "\"0-31-2\"", worker_step);
    refused_by_open("worker", "\"0-\"", worker_half);
    refused_by_open("worker", "the empty range \"31-0\"", worker_backwards);
    refused_by_open("worker", "\"\357\277\275\", which is not UTF-8", worker_not_utf8);
    refused_by_open("worker", "the empty range 5-4", range_backwards);
    refused_by_open("worker", "-1-4", range_negative);
    refused_by_open("worker", "0-1024", range_too_far);
    refused_by_open("worker", "-9223372036854775808-9223372036854775807", range_wild);
    refused_by_open("name", "\"\"", name_empty);
    refused_by_open("name", "\"a/b\"", name_slash);
    refused_by_open("name", "\"..\"", name_dot);
    refused_by_open("name", "\"aaaaaa", name_long);
    refused_by_open("name", "\"a\357\277\275\", which is not UTF-8", name_not_utf8);
    refused_by_open("state_dir", "\"\"", state_dir_empty);
    refused_by_open("layout", "42|10|12, 64 bits", layout_64_bits);
    refused_by_open("layout", "\"leaves\"", layout_words);
    refused_by_open("epoch_ms", "-1", epoch_negative);
    refused_by_open("epoch_ms", "4102444800000", epoch_ahead);
    refused_by_open("epoch_ms", "9223372036854775807", epoch_max);
    refused_by_open("on_clock_backwards", "7", backwards_7);
    refused_by_open("on_clock_backwards", "-1", backwards_negative);
    refused_by_open("max_backwards_ms", "99", max_backwards_99);
    refused_by_open("max_backwards_ms", "-1", max_backwards_negative);
    refused_by_open("max_backwards_ms", "9223372036854775807", max_backwards_max);
    refused_by_open("on_exhausted", "2", exhausted_2);
    refused_by_open("random_start", "-1", random_negative);
    refused_by_open("random_start", "9223372036854775807", random_max);
    refused_by_open("timeout_ms", "0", timeout_0);
    refused_by_open("timeout_ms", "-5", timeout_negative);
    refused_by_open("timeout_ms", "9223372036854775807", timeout_max);
}

static void first_error_counts(void) {
    leafid_snowflake_options *bad = options_for(fresh_dir(), fresh_name(), "1");
    leafid_snowflake *opened = NULL;
    CHECK_STATUS(leafid_snowflake_options_set_layout(bad, "first"), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_snowflake_options_set_on_exhausted(bad, 99), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_snowflake_options_set_layout(bad, "leaf"), LEAFID_OK);
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(leafid_snowflake_open(bad, &opened), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("layout is \"first\"");
    }
    CHECK(opened == NULL);
    leafid_snowflake_options_free(bad);
}

static void stats_of_other_versions(void) {
    struct {
        leafid_snowflake_stats_t known;
        int64_t later[4];
        int64_t beyond;
    } newer = {.later = {1, 2, 3, 4}, .beyond = 5};
    const size_t wrong[] = {0, 1, sizeof newer.known - 1, SIZE_MAX, (size_t)1 << 40};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(leafid_snowflake_stats(flake, &newer.known, wrong[i]), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("size is ");
    }
    CHECK_STATUS(leafid_snowflake_stats(flake, &newer.known, sizeof newer.known + sizeof newer.later), LEAFID_OK);
    CHECK_NUMBER(newer.known.worker_id, 3);
    for (int i = 0; i < 4; i++) CHECK_NUMBER(newer.later[i], 0);
    CHECK_NUMBER(newer.beyond, 5);
}

static void closed_handles(void) {
    leafid_snowflake *closed;
    int64_t id = 42, *taken = NULL;
    leafid_snowflake_stats_t stats;
    REQUIRE_OK(open_flake(fresh_dir(), fresh_name(), "4", &closed));
    CHECK_STATUS(leafid_snowflake_next(closed, &id), LEAFID_OK);
    int64_t before = id;
    CHECK_STATUS(leafid_snowflake_close(closed), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_close(closed), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_next(closed, &id), LEAFID_CLOSED);
    CHECK_STATUS(leafid_snowflake_fill(closed, &id, 1), LEAFID_CLOSED);
    CHECK_STATUS(leafid_snowflake_take(closed, 1, &taken), LEAFID_CLOSED);
    CHECK_STATUS(leafid_snowflake_stats(closed, &stats, sizeof stats), LEAFID_CLOSED);
    CHECK(taken == NULL);
    CHECK_NUMBER(id, before);
    CHECK_STATUS(leafid_snowflake_close(closed), LEAFID_OK);
    leafid_snowflake_free(closed);
}

int main(void) {
    const char *dir = fresh_dir();
    if (leafid_snowflake_options_new(&options) != LEAFID_OK) return 2;
    if (open_flake(dir, fresh_name(), "3", &flake) != LEAFID_OK) {
        char text[1024];
        leafid_last_error(text, sizeof text);
        fprintf(stderr, "open: %s\n", text);
        return 2;
    }
    test("NULL for every pointer", null_pointers);
    test("misaligned pointers", misaligned_pointers);
    test("numbers of ids that are no numbers of ids", counts);
    test("parts and ids out of range", parts);
    test("layouts that are none", layouts);
    test("options that are refused, by name and value", bad_options);
    test("open reports the first error of a setter", first_error_counts);
    test("stats of callers compiled with another header", stats_of_other_versions);
    test("closed handles refuse, and close again", closed_handles);
    leafid_snowflake_options_free(options);
    leafid_snowflake_free(flake);
    return finish();
}
