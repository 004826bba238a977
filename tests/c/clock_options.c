/* What says where the time in ids comes from, what is recorded, and what to do when time is behind or used up. */
#define _GNU_SOURCE
#include "check.h"

#include <stdatomic.h>

static leafid_status open_and_free(leafid_snowflake_options *options, leafid_snowflake **out) {
    *out = NULL;
    leafid_status status = leafid_snowflake_open(options, out);
    leafid_snowflake_options_free(options);
    return status;
}

/* What the peers answer. */
struct peers {
    int status;
    const char *text;
    size_t n;
    int64_t off_ms;
    atomic_bool hangs;
    atomic_int calls, freed;
};

static int ask(void *user_data, int64_t *out, size_t cap, size_t *n, char *error, size_t error_cap) {
    struct peers *peers = user_data;
    atomic_fetch_add(&peers->calls, 1);
    CHECK_NUMBER((int64_t)*n, 0);
    while (atomic_load(&peers->hangs)) pause_ms(5);
    for (size_t i = 0; i < peers->n && i < cap; i++) out[i] = now_ms() + peers->off_ms;
    *n = peers->n;
    if (peers->text) snprintf(error, error_cap, "%s", peers->text);
    return peers->status;
}

static void freed(void *user_data) {
    struct peers *peers = user_data;
    atomic_fetch_add(&peers->freed, 1);
}

static void peer_times(void) {
    const struct {
        struct peers peers;
        leafid_status status;
        const char *says;
    } answers[] = {
        {{.n = 3, .off_ms = 0}, LEAFID_OK, ""},
        {{.n = LEAFID_MOST_PEERS, .off_ms = 3000}, LEAFID_OK, ""},
        {{.n = 3, .off_ms = 60000}, LEAFID_CLOCK_BACKWARDS, "behind the median of its 3 peers"},
        {{.n = 4, .off_ms = -60000}, LEAFID_CLOCK_BACKWARDS, "ahead of the median of its 4 peers"},
        {{.n = 2, .off_ms = 60000}, LEAFID_OK, ""},
        {{.n = 0}, LEAFID_OK, ""},
        {{.n = 3, .off_ms = 60000, .status = -1, .text = "no network"}, LEAFID_OK, ""},
        {{.n = 3, .off_ms = 60000, .status = LEAFID_STATE_IO}, LEAFID_OK, ""},
        {{.status = LEAFID_INVALID_ARGUMENT, .text = "no such cluster"}, LEAFID_INVALID_ARGUMENT, "no such cluster"},
        {{.n = LEAFID_MOST_PEERS + 1}, LEAFID_INVALID_ARGUMENT, "n is 65; allowed: "},
        {{.n = (size_t)-1}, LEAFID_INVALID_ARGUMENT, "n is 18446744073709551615; allowed: "},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct peers peers = {.status = answers[i].peers.status,
                              .text = answers[i].peers.text,
                              .n = answers[i].peers.n,
                              .off_ms = answers[i].peers.off_ms};
        leafid_snowflake *flake;
        leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "3");
        CHECK_STATUS(leafid_snowflake_options_set_peer_times(options, ask, &peers, freed), LEAFID_OK);
        CHECK_STATUS(open_and_free(options, &flake), answers[i].status);
        if (answers[i].status != LEAFID_OK) CHECK_SAYS(answers[i].says);
        CHECK((flake != NULL) == (answers[i].status == LEAFID_OK));
        CHECK_NUMBER(atomic_load(&peers.calls), 1);
        leafid_snowflake_free(flake);
        EVENTUALLY(atomic_load(&peers.freed) == 1);
    }
}

static void peers_that_hang(void) {
    struct peers peers = {.n = 3, .off_ms = 60000, .hangs = true};
    leafid_snowflake *flake;
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "3");
    CHECK_STATUS(leafid_snowflake_options_set_timeout_ms(options, 10000), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_peer_times(options, ask, &peers, freed), LEAFID_OK);
    CHECK_STATUS(open_and_free(options, &flake), LEAFID_OK);
    leafid_snowflake_free(flake);
    CHECK_NUMBER(atomic_load(&peers.freed), 0);
    atomic_store(&peers.hangs, false);
    EVENTUALLY(atomic_load(&peers.freed) == 1);
}

/* The core refuses one of the four pairs alone, and a range without a record, so each value is told from the other one
   of its option. Of clocks the statistics tell. */
static void rules_by_value(void) {
    leafid_snowflake *flake;
    leafid_snowflake_stats_t stats;
    for (int waits = 0; waits < 2; waits++) {
        for (int borrows = 0; borrows < 2; borrows++) {
            leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "3");
            int32_t rule = waits ? LEAFID_ON_CLOCK_BACKWARDS_WAIT : LEAFID_ON_CLOCK_BACKWARDS_CONTINUE;
            CHECK_STATUS(leafid_snowflake_options_set_on_clock_backwards(options, rule), LEAFID_OK);
            rule = borrows ? LEAFID_ON_EXHAUSTED_BORROW : LEAFID_ON_EXHAUSTED_WAIT;
            CHECK_STATUS(leafid_snowflake_options_set_on_exhausted(options, rule), LEAFID_OK);
            CHECK_STATUS(open_and_free(options, &flake), waits && borrows ? LEAFID_INVALID_ARGUMENT : LEAFID_OK);
            leafid_snowflake_free(flake);
        }
    }
    CHECK_SAYS("on_exhausted is \"borrow\"; allowed: \"wait\"");
    for (int is_coarse = 0; is_coarse < 2; is_coarse++) {
        leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "3");
        int32_t source = is_coarse ? LEAFID_CLOCK_SOURCE_COARSE : LEAFID_CLOCK_SOURCE_SYSTEM;
        CHECK_STATUS(leafid_snowflake_options_set_clock_source(options, source), LEAFID_OK);
        REQUIRE_OK(open_and_free(options, &flake));
        REQUIRE_OK(leafid_snowflake_stats(flake, &stats, sizeof stats));
        CHECK((stats.clock_lag_ms > 0) == is_coarse);
        leafid_snowflake_free(flake);
    }
    for (int persists = 0; persists < 2; persists++) {
        leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "0-3");
        CHECK_STATUS(leafid_snowflake_options_set_persist(options, persists), LEAFID_OK);
        CHECK_STATUS(open_and_free(options, &flake), persists ? LEAFID_OK : LEAFID_INVALID_ARGUMENT);
        leafid_snowflake_free(flake);
    }
}

int main(void) {
    test("every answer peer_times can give", peer_times);
    test("peer_times that hangs prevents no start", peers_that_hang);
    test("on_clock_backwards, on_exhausted, clock_source and persist, each of their values", rules_by_value);
    return finish();
}
