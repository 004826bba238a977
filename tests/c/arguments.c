/* Bad arguments of every kind: an error that names the argument, its value and what is allowed; no crash. */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static leafid_snowflake_options *options;
static leafid_snowflake *flake;

static int no_id(void *user_data, const char *name, int64_t previous, int64_t *worker_id, char *error, size_t cap) {
    (void)user_data, (void)name, (void)previous, (void)worker_id, (void)error, (void)cap;
    return -1;
}
static int no_times(void *user_data, int64_t *out, size_t cap, size_t *n, char *error, size_t error_cap) {
    (void)user_data, (void)out, (void)cap, (void)n, (void)error, (void)error_cap;
    return -1;
}
static int no_lease(void *user_data, const leafid_claim_request *request, leafid_lease *lease, char *error,
                    size_t cap) {
    (void)user_data, (void)request, (void)lease, (void)error, (void)cap;
    return -1;
}
static int no_renewal(void *user_data, leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    (void)user_data, (void)lease, (void)until_ms, (void)error, (void)cap;
    return -1;
}
static int no_release(void *user_data, const leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    (void)user_data, (void)lease, (void)until_ms, (void)error, (void)cap;
    return -1;
}
static const leafid_worker_leases no_leases = {sizeof no_leases, no_lease, no_renewal, no_release};

/* Every pointer of every function as NULL, the others valid: tables.py makes the calls from the header. */
static void null_pointers(void) {
    int64_t places[64];
    void *const room = memset(places, 42, sizeof places);
    leafid_layout layout;
    leafid_public_ids *ids;
    REQUIRE_OK(leafid_layout_parse("leaf", &layout));
    REQUIRE_OK(leafid_public_ids_new(room, 16, 1, &ids));
#include "null_calls.inc"
    leafid_public_ids_free(ids);

    leafid_worker_leases partial = no_leases;
    partial.release = NULL;
    REFUSES_NULL("release", leafid_snowflake_options_set_worker_leases(options, &partial, NULL, NULL));
    partial.renew = NULL;
    REFUSES_NULL("renew", leafid_snowflake_options_set_worker_leases(options, &partial, NULL, NULL));
    partial.claim = NULL;
    REFUSES_NULL("claim", leafid_snowflake_options_set_worker_leases(options, &partial, NULL, NULL));
    /* Nothing was written by all those refusals. */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) CHECK_NUMBER(places[i], 0x2a2a2a2a2a2a2a2a);

    /* Those that allow it. */
    leafid_snowflake_options_free(NULL);
    leafid_snowflake_free(NULL);
    leafid_public_ids_free(NULL);
    leafid_ids_free(NULL, 5);
    CHECK_STATUS(leafid_snowflake_name(flake, NULL, 0, room), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_name(flake, NULL, 0, NULL), LEAFID_OK);
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
    const size_t wrong[] = {(size_t)-1, SIZE_MAX / 8, (size_t)1 << 40, ((size_t)1 << 24) + 1};
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

static void no_ids(void) {
    int64_t *taken = (int64_t *)&taken;
    CHECK_STATUS(leafid_snowflake_fill(flake, NULL, 0), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_take(flake, 0, &taken), LEAFID_OK);
    CHECK(taken == NULL);
    leafid_ids_free(taken, 0);
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
    CHECK_STATUS(leafid_parse_id(huge, LEAFID_TEXT_FORM_BASE62, &id), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("which has 1048575 characters; allowed: 11 characters of 0-9, A-Z and a-z");
    free(huge);
}

static void text_forms(void) {
    const int32_t wrong[] = {-1, 4, INT32_MAX, INT32_MIN};
    char text[LEAFID_ID_TEXT_SIZE] = "x";
    int64_t id = 42;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(leafid_format_id(1, wrong[i], text, sizeof text), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("form is ");
        CHECK_SAYS("\"decimal\", \"base32\", \"base62\" or \"uuid\"");
        CHECK_STATUS(leafid_parse_id("1", wrong[i], &id), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("form is ");
    }
    CHECK_STATUS(leafid_format_id(1, LEAFID_TEXT_FORM_BASE32, text, 13), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("cap is 13; allowed: at least 14");
    CHECK_STATUS(leafid_format_id(1, LEAFID_TEXT_FORM_BASE32, text, 0), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_parse_id("\377\376", LEAFID_TEXT_FORM_BASE32, &id), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("UTF-8");
    CHECK(strcmp(text, "x") == 0);
    CHECK_NUMBER(id, 42);
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

static void stats_of_other_versions(void) {
    struct {
        leafid_snowflake_stats_t known;
        int64_t later[4];
        int64_t beyond;
    } newer = {.later = {1, 2, 3, 4}, .beyond = 5};
    /* What a caller of the first version has. */
    const size_t first_version = 64;
    const size_t wrong[] = {0, 1, first_version - 1, SIZE_MAX, (size_t)1 << 40};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_STATUS(leafid_snowflake_stats(flake, &newer.known, wrong[i]), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("size is ");
    }
    CHECK_STATUS(leafid_snowflake_stats(flake, &newer.known, sizeof newer.known + sizeof newer.later), LEAFID_OK);
    CHECK_NUMBER(newer.known.worker_id, 3);
    for (int i = 0; i < 4; i++) CHECK_NUMBER(newer.later[i], 0);
    CHECK_NUMBER(newer.beyond, 5);
    newer.known.claims = 77;
    CHECK_STATUS(leafid_snowflake_stats(flake, &newer.known, first_version), LEAFID_OK);
    CHECK_NUMBER((int64_t)newer.known.claims, 77);
}

static void leases_of_other_versions(void) {
    struct {
        leafid_worker_leases known;
        void (*later)(void);
    } newer = {.known = no_leases};
    const size_t wrong[] = {0, sizeof newer.known - 1, SIZE_MAX};
    leafid_snowflake_options *leased = options_for(fresh_dir(), fresh_name(), "1");
    newer.known.size = sizeof newer;
    CHECK_STATUS(leafid_snowflake_options_set_worker_leases(leased, &newer.known, NULL, NULL), LEAFID_OK);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        newer.known.size = wrong[i];
        CHECK_STATUS(leafid_snowflake_options_set_worker_leases(leased, &newer.known, NULL, NULL),
                     LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("size is ");
    }
    leafid_snowflake_options_free(leased);
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
    test("no ids: nothing is written, and nothing refused", no_ids);
    test("parts and ids out of range", parts);
    test("texts and forms that are none", text_forms);
    test("layouts that are none", layouts);
    test("stats of callers compiled with another header", stats_of_other_versions);
    test("leases of callers compiled with another header", leases_of_other_versions);
    test("closed handles refuse, and close again", closed_handles);
    leafid_snowflake_options_free(options);
    leafid_snowflake_free(flake);
    return finish();
}
