/* What says where the time in ids comes from and what is recorded: peer_times, start_after, coarse, lazy, persist; what
   to do when it is behind or used up. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <stdatomic.h>
#include <string.h>

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
    CHECK_STATUS(leafid_snowflake_options_set_timeout_ms(options, 2000), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_peer_times(options, ask, &peers, freed), LEAFID_OK);
    CHECK_STATUS(open_and_free(options, &flake), LEAFID_OK);
    leafid_snowflake_free(flake);
    CHECK_NUMBER(atomic_load(&peers.freed), 0);
    atomic_store(&peers.hangs, false);
    EVENTUALLY(atomic_load(&peers.freed) == 1);
}

static leafid_status open_after(int64_t largest, leafid_snowflake **out) {
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "3");
    CHECK_STATUS(leafid_snowflake_options_set_start_after(options, largest), LEAFID_OK);
    return open_and_free(options, out);
}

static void start_after(void) {
    leafid_snowflake *flake;
    int64_t largest, id;
    leafid_parts parts;
    /* Of another worker id, two seconds ahead of the clock. */
    REQUIRE_OK(leafid_compose(now_ms() + 2000, 1023, 4095, NULL, &largest));
    REQUIRE_OK(open_after(largest, &flake));
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    CHECK(id > largest);
    REQUIRE_OK(leafid_decode(id, NULL, &parts));
    CHECK_NUMBER(parts.worker_id, 3);
    leafid_snowflake_free(flake);

    REQUIRE_OK(leafid_compose(now_ms() + 3600000, 3, 0, NULL, &largest));
    CHECK_STATUS(open_after(largest, &flake), LEAFID_CLOCK_BACKWARDS);
    CHECK_SAYS("start_after is an id of ");
    CHECK(flake == NULL);
    CHECK_STATUS(open_after(0, &flake), LEAFID_OK);
    leafid_snowflake_free(flake);
}

static void coarse(void) {
    leafid_snowflake *flake;
    leafid_snowflake_stats_t stats;
    int64_t last = -1, id, before = now_ms();
    leafid_parts parts;
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "3");
    CHECK_STATUS(leafid_snowflake_options_set_clock_source(options, LEAFID_CLOCK_SOURCE_COARSE), LEAFID_OK);
    REQUIRE_OK(open_and_free(options, &flake));
    REQUIRE_OK(leafid_snowflake_stats(flake, &stats, sizeof stats));
    CHECK(stats.clock_lag_ms >= 1 && stats.clock_lag_ms <= 100);
    for (int i = 0; i < 200; i++) {
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        CHECK(id > last);
        last = id;
        pause_ms(1);
    }
    REQUIRE_OK(leafid_decode(last, NULL, &parts));
    CHECK(parts.timestamp_ms > before - 5000 && parts.timestamp_ms < now_ms() + 5000);
    leafid_snowflake_free(flake);

    options = options_for(fresh_dir(), fresh_name(), "3");
    CHECK_STATUS(leafid_snowflake_options_set_clock_source(options, LEAFID_CLOCK_SOURCE_SYSTEM), LEAFID_OK);
    REQUIRE_OK(open_and_free(options, &flake));
    REQUIRE_OK(leafid_snowflake_stats(flake, &stats, sizeof stats));
    CHECK_NUMBER(stats.clock_lag_ms, 0);
    leafid_snowflake_free(flake);
}

static size_t entries(const char *dir) {
    size_t count = 0;
    DIR *open = opendir(dir);
    REQUIRE(open != NULL);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;) count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static void unpersisted(void) {
    leafid_snowflake *flake;
    char dir[512], text[64] = "x";
    int64_t id, last = -1;
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    leafid_snowflake_options *options = options_for(dir, fresh_name(), "3");
    CHECK_STATUS(leafid_snowflake_options_set_persist(options, 0), LEAFID_OK);
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    for (int i = 0; i < 10000; i++) {
        leafid_parts parts;
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        CHECK(id > last);
        last = id;
        if (i % 1000 == 0) {
            REQUIRE_OK(leafid_decode(id, NULL, &parts));
            CHECK(parts.timestamp_ms <= now_ms());
        }
    }
    CHECK_NUMBER((int64_t)entries(dir), 0);
    CHECK_STATUS(leafid_snowflake_state_dir(flake, text, sizeof text, NULL), LEAFID_OK);
    CHECK(text[0] == '\0');
    leafid_snowflake_free(flake);

    CHECK_STATUS(leafid_snowflake_options_set_worker(options, "0-3"), LEAFID_OK);
    CHECK_STATUS(open_and_free(options, &flake), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("persist is false; allowed: true with a range");
}

static void lazily(void) {
    leafid_snowflake *holder, *flake;
    char dir[512], name[64];
    int64_t id = 42;
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    snprintf(name, sizeof name, "%s", fresh_name());
    REQUIRE_OK(open_flake(dir, name, "3", &holder));
    leafid_snowflake_options *options = options_for(dir, name, "3");
    CHECK_STATUS(leafid_snowflake_options_set_lazy(options, 1), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_random_start(options, 7), LEAFID_OK);
    REQUIRE_OK(open_and_free(options, &flake));
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_WORKER_IN_USE);
    CHECK_NUMBER(id, 42);
    leafid_snowflake_free(holder);
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
    leafid_snowflake_free(flake);

    /* Options are checked at once all the same. */
    options = options_for(dir, name, "1024");
    CHECK_STATUS(leafid_snowflake_options_set_lazy(options, 1), LEAFID_OK);
    CHECK_STATUS(open_and_free(options, &flake), LEAFID_INVALID_ARGUMENT);
}

/* The core refuses one of the four pairs alone, so each value is told from the other one of its option. */
static void rules_by_value(void) {
    leafid_snowflake *flake;
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
}

int main(void) {
    test("every answer peer_times can give", peer_times);
    test("peer_times that hangs prevents no start", peers_that_hang);
    test("start_after", start_after);
    test("clock_source: coarse, and its lag", coarse);
    test("on_clock_backwards and on_exhausted, each of their values", rules_by_value);
    test("persist 0 keeps no record, and refuses a range", unpersisted);
    test("lazy: the first id claims, and says what open would have said", lazily);
    return finish();
}
