/* Worker ids from leases: shared, and leases that are none. What is held, renewed and given back, tests/scenarios has. */
#define _GNU_SOURCE
#include "lease_source.h"

#include <string.h>

static void shared_in_the_process(void) {
    struct lease_source *source = lease_source_new(60000, 0);
    leafid_snowflake_options *options = lease_source_options(source, fresh_dir(), fresh_name());
    leafid_snowflake *first, *second;
    leafid_snowflake_stats_t stats;
    REQUIRE_OK(leafid_snowflake_open(options, &first));
    REQUIRE_OK(leafid_snowflake_open(options, &second));
    leafid_snowflake_options_free(options);
    REQUIRE_OK(leafid_snowflake_stats(first, &stats, sizeof stats));
    CHECK_NUMBER((int64_t)stats.handles, 2);
    CHECK_NUMBER(atomic_load(&source->claims), 1);
    leafid_snowflake_free(first);
    CHECK_NUMBER(atomic_load(&source->releases), 0);
    CHECK_NUMBER(atomic_load(&source->freed), 0);
    leafid_snowflake_free(second);
    EVENTUALLY(atomic_load(&source->releases) == 1);
    lease_source_end(source);
}

/* What a claim can make of a lease. */
static void worker_1024(leafid_lease *lease) { lease->worker_id = 1024; }
static void worker_none(leafid_lease *lease) { lease->worker_id = -1; }
static void worker_max(leafid_lease *lease) { lease->worker_id = INT64_MAX; }
static void endless_token(leafid_lease *lease) { memset(lease->token, 't', sizeof lease->token); }
static void token_no_utf8(leafid_lease *lease) { memcpy(lease->token, "a\377b", 4); }
static void wild_peers(leafid_lease *lease) { lease->peers = (size_t)-1; }
static void many_peers(leafid_lease *lease) { lease->peers = LEAFID_MOST_PEERS + 1; }
static void empty_span(leafid_lease *lease) { lease->until_ms = lease->from_ms; }
static void wild_span(leafid_lease *lease) { lease->from_ms = INT64_MIN, lease->until_ms = INT64_MAX; }
static void ended_span(leafid_lease *lease) { lease->until_ms = (lease->from_ms -= 90000) + 1; }
static void far_span(leafid_lease *lease) { lease->until_ms = (lease->from_ms += 90000) + 1000; }
static void seconds(leafid_lease *lease) { lease->from_ms /= 1000, lease->until_ms /= 1000; }
static void negative_lease(leafid_lease *lease) { lease->lease_ms = -1; }
static void long_lease(leafid_lease *lease) { lease->lease_ms = INT64_MAX; }
static void late_peers(leafid_lease *lease) {
    for (lease->peers = 0; lease->peers < 3; lease->peers++) lease->peer_times_ms[lease->peers] = now_ms() + 60000;
}

static void leases_that_are_none(void) {
    const struct {
        void (*spoil)(leafid_lease *lease);
        leafid_status status;
        const char *says;
    } spoilt[] = {
        {worker_1024, LEAFID_INVALID_ARGUMENT, "worker_id is 1024; allowed: "},
        {worker_none, LEAFID_INVALID_ARGUMENT, "worker_id is -1; allowed: "},
        {worker_max, LEAFID_INVALID_ARGUMENT, "worker_id is 9223372036854775807; allowed: "},
        {endless_token, LEAFID_INVALID_ARGUMENT, "token is a value that is not shown"},
        {token_no_utf8, LEAFID_INVALID_ARGUMENT, "token is a value that is not shown; allowed: UTF-8"},
        {wild_peers, LEAFID_INVALID_ARGUMENT, "peers is 18446744073709551615; allowed: "},
        {many_peers, LEAFID_INVALID_ARGUMENT, "peers is 65; allowed: "},
        {empty_span, LEAFID_INVALID_ARGUMENT, "until_ms is "},
        {wild_span, LEAFID_INVALID_ARGUMENT, "until_ms is 9223372036854775807"},
        {seconds, LEAFID_INVALID_ARGUMENT, "until_ms is "},
        {ended_span, LEAFID_WORKER_LOST, "which this clock has passed"},
        {far_span, LEAFID_WORKER_IN_USE, "belongs to its last holder until "},
        {negative_lease, LEAFID_INVALID_ARGUMENT, "lease_ms is -1; allowed: "},
        {long_lease, LEAFID_INVALID_ARGUMENT, "lease_ms is 9223372036854775807; allowed: "},
        {late_peers, LEAFID_CLOCK_BACKWARDS, "behind the median of its 3 peers"},
    };
    for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        struct lease_source *source = lease_source_new(60000, 0);
        leafid_snowflake *flake = NULL;
        source->spoil = spoilt[i].spoil;
        CHECK_STATUS(lease_source_open(source, &flake), spoilt[i].status);
        CHECK_SAYS(spoilt[i].says);
        CHECK(flake == NULL);
        CHECK_NUMBER(atomic_load(&source->claims), 1);
        lease_source_end(source);
    }
}

/* One that does not come back holds up a close for a while only; its user_data stays until it does. */
static void close_during_a_call_that_hangs(void) {
    struct lease_source *source = lease_source_new(LEASE_MS, 0);
    leafid_snowflake *flake;
    int64_t id;
    REQUIRE_OK(lease_source_open(source, &flake));
    atomic_store(&source->hangs, true);
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    EVENTUALLY(atomic_load(&source->inside) == 1);
    (void)leafid_snowflake_close(flake);
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_CLOSED);
    leafid_snowflake_free(flake);
    CHECK(atomic_load(&source->inside) >= 1);
    CHECK_NUMBER(atomic_load(&source->freed), 0);
    atomic_store(&source->hangs, false);
    lease_source_end(source);
}

int main(void) {
    test("the same functions and user_data share one generator", shared_in_the_process);
    test("leases that are none", leases_that_are_none);
    test("close while a renewal hangs", close_during_a_call_that_hangs);
    return finish();
}
