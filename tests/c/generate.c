/* What a generator gives: increasing ids that say who made them and when, in ones, buffers and runs. */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <string.h>

static void increasing(const int64_t *ids, size_t count, int64_t above) {
    for (size_t i = 0; i < count; i++) {
        if (!CHECK(ids[i] > above)) return;
        above = ids[i];
    }
}

static void one_by_one(void) {
    leafid_snowflake *flake;
    uint32_t worker = 0;
    size_t count = scaled(100000);
    int64_t *ids = calloc(count, sizeof *ids), before = now_ms();
    REQUIRE(ids != NULL);
    REQUIRE_OK(open_flake(fresh_dir(), fresh_name(), "7", &flake));
    CHECK_STATUS(leafid_snowflake_worker_id(flake, &worker), LEAFID_OK);
    CHECK_NUMBER(worker, 7);
    for (size_t i = 0; i < count; i++) REQUIRE_OK(leafid_snowflake_next(flake, &ids[i]));
    int64_t after = now_ms();
    increasing(ids, count, -1);
    for (size_t i = 0; i < count; i += 97) {
        leafid_parts parts;
        REQUIRE_OK(leafid_decode(ids[i], NULL, &parts));
        CHECK_NUMBER(parts.worker_id, 7);
        if (!CHECK(parts.timestamp_ms >= before && parts.timestamp_ms <= after + 5000)) break;
    }
    leafid_snowflake_free(flake);
    free(ids);
}

static void in_buffers(void) {
    leafid_snowflake *flake;
    int64_t last = -1, *taken;
    static int64_t buffer[50002];
    REQUIRE_OK(open_flake(fresh_dir(), fresh_name(), "0-3", &flake));
    const size_t sizes[] = {1, 2, 4095, 4096, 4097, 50000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buffer[sizes[i]] = -77;
        REQUIRE_OK(leafid_snowflake_fill(flake, buffer, sizes[i]));
        increasing(buffer, sizes[i], last);
        last = buffer[sizes[i] - 1];
        CHECK_NUMBER(buffer[sizes[i]], -77);
        REQUIRE_OK(leafid_snowflake_take(flake, sizes[i], &taken));
        increasing(taken, sizes[i], last);
        last = taken[sizes[i] - 1];
        leafid_ids_free(taken, sizes[i]);
    }
    REQUIRE_OK(leafid_snowflake_next(flake, buffer));
    CHECK(buffer[0] > last);
    leafid_snowflake_free(flake);
}

/* By its fields or its text, with an epoch of its own. */
static void layouts(void) {
    leafid_layout layout, seen;
    leafid_snowflake *flake;
    int64_t id;
    REQUIRE_OK(leafid_layout_parse("sonyflake", &layout));
    for (int by_text = 0; by_text < 2; by_text++) {
        leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "40000");
        CHECK_STATUS(by_text ? leafid_snowflake_options_set_layout(options, "sonyflake")
                             : leafid_snowflake_options_set_layout_fields(options, &layout), LEAFID_OK);
        CHECK_STATUS(leafid_snowflake_options_set_epoch_ms(options, layout.epoch_ms + 1000), LEAFID_OK);
        leafid_status status = leafid_snowflake_open(options, &flake);
        leafid_snowflake_options_free(options);
        REQUIRE_OK(status);
        REQUIRE_OK(leafid_snowflake_layout(flake, &seen));
        seen.epoch_ms -= 1000;
        CHECK(memcmp(&seen, &layout, sizeof seen) == 0);
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        CHECK_NUMBER(id & 0xffff, 40000);
        leafid_snowflake_free(flake);
    }
}

static void said_of_itself(void) {
    leafid_snowflake *flake;
    leafid_snowflake_stats_t stats;
    int64_t id, end, before = now_ms();
    char text[600], cut[4], name[64], dir[512];
    size_t needed = 0;
    snprintf(name, sizeof name, "%s", fresh_name());
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    REQUIRE_OK(open_flake(dir, name, "9", &flake));
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    REQUIRE_OK(leafid_snowflake_stats(flake, &stats, sizeof stats));
    CHECK_NUMBER(stats.worker_id, 9);
    CHECK_NUMBER(stats.epoch_ms, INT64_C(1288834974657));
    REQUIRE_OK(leafid_layout_expires_at_ms(NULL, &end));
    CHECK_NUMBER(stats.expires_at_ms, end);
    CHECK(stats.reserved_until_ms > before - 1000 && stats.reserved_until_ms <= now_ms() + 5000);
    CHECK(stats.lead_ms >= 0 && stats.lead_ms <= 5000);
    CHECK_NUMBER((int64_t)stats.handles, 1);
    CHECK_NUMBER((int64_t)stats.ids, 1);
    CHECK_NUMBER((int64_t)stats.renewal_failures, 0);
    leafid_parts parts;
    REQUIRE_OK(leafid_decode(id, NULL, &parts));
    CHECK(parts.timestamp_ms < stats.reserved_until_ms);

    CHECK_STATUS(leafid_snowflake_name(flake, text, sizeof text, &needed), LEAFID_OK);
    CHECK(strcmp(text, name) == 0);
    CHECK_NUMBER((int64_t)needed, (int64_t)strlen(name));
    CHECK_STATUS(leafid_snowflake_name(flake, cut, sizeof cut, &needed), LEAFID_OK);
    CHECK(strlen(cut) == 3 && strncmp(cut, name, 3) == 0);
    CHECK_NUMBER((int64_t)needed, (int64_t)strlen(name));
    CHECK_STATUS(leafid_snowflake_state_dir(flake, text, sizeof text, NULL), LEAFID_OK);
    CHECK(strncmp(text, dir, strlen(dir)) == 0);
    CHECK_STATUS(leafid_snowflake_last_error(flake, text, sizeof text, &needed), LEAFID_OK);
    CHECK(text[0] == '\0' && needed == 0);
    leafid_snowflake_free(flake);
}

/* The same settings twice are one generator, closed with its last handle; other settings are refused. */
static void shared_in_the_process(void) {
    leafid_snowflake *first, *second;
    leafid_snowflake_stats_t stats;
    int64_t a, b, c;
    char name[64], dir[512];
    snprintf(name, sizeof name, "%s", fresh_name());
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    REQUIRE_OK(open_flake(dir, name, "0-1", &first));
    REQUIRE_OK(open_flake(dir, name, "0-1", &second));
    REQUIRE_OK(leafid_snowflake_stats(second, &stats, sizeof stats));
    CHECK_NUMBER((int64_t)stats.handles, 2);
    REQUIRE_OK(leafid_snowflake_next(first, &a));
    REQUIRE_OK(leafid_snowflake_next(second, &b));
    REQUIRE_OK(leafid_snowflake_next(first, &c));
    CHECK(a < b && b < c);

    leafid_snowflake_free(first);
    REQUIRE_OK(leafid_snowflake_next(second, &a));
    CHECK(a > c);
    leafid_snowflake_free(second);

    /* The next one starts above all of them. */
    REQUIRE_OK(open_flake(dir, name, "0-1", &first));
    uint32_t worker = 9;
    REQUIRE_OK(leafid_snowflake_worker_id(first, &worker));
    REQUIRE_OK(leafid_snowflake_next(first, &b));
    if (worker == (a >> 12 & 1023)) CHECK(b > a);
    leafid_snowflake_free(first);
}

/* No options at all. */
static void from_the_environment(void) {
    leafid_snowflake *flake = NULL;
    char dir[512], seen[600];
    set_env("LEAFID_WORKER", NULL);
    CHECK_STATUS(leafid_snowflake_open(NULL, &flake), LEAFID_INVALID_ARGUMENT);
    CHECK(flake == NULL);
    /* The name is "default" here, whose ids are the host's: a wide range has a free one, whatever else runs. */
    set_env("LEAFID_WORKER", "512-1023");
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    set_env("LEAFID_STATE_DIR", dir);
    REQUIRE_OK(leafid_snowflake_open(NULL, &flake));
    CHECK_STATUS(leafid_snowflake_state_dir(flake, seen, sizeof seen, NULL), LEAFID_OK);
    CHECK(strncmp(seen, dir, strlen(dir)) == 0);
    leafid_snowflake_free(flake);
    set_env("LEAFID_WORKER", NULL);
    set_env("LEAFID_STATE_DIR", NULL);
}

static void workers_by_number(void) {
    leafid_snowflake *flake;
    leafid_snowflake_options *options;
    int64_t id;
    REQUIRE_OK(leafid_snowflake_options_new(&options));
    CHECK_STATUS(leafid_snowflake_options_set_worker_id(options, 1023), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_timeout_ms(options, PATIENT_MS), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_name(options, fresh_name()), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_state_dir(options, fresh_dir()), LEAFID_OK);
    /* The same options open twice. */
    for (int i = 0; i < 2; i++) {
        REQUIRE_OK(leafid_snowflake_open(options, &flake));
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        CHECK_NUMBER(id >> 12 & 1023, 1023);
        leafid_snowflake_free(flake);
    }
    CHECK_STATUS(leafid_snowflake_options_set_worker_range(options, 10, 11), LEAFID_OK);
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    CHECK((id >> 12 & 1023) == 10 || (id >> 12 & 1023) == 11);
    leafid_snowflake_free(flake);
}

int main(void) {
    test("next: increasing, by this worker, now", one_by_one);
    test("fill and take: increasing with next, to the last element and no further", in_buffers);
    test("a layout by its fields or its text, and an epoch of its own", layouts);
    test("stats, name and state directory", said_of_itself);
    test("the same settings share one generator", shared_in_the_process);
    test("all from the environment", from_the_environment);
    test("worker by number and by range, options used again", workers_by_number);
    return finish();
}
