/* Leases that cannot be renewed: lost, and claimed anew. */
#define _GNU_SOURCE
#include "lease_source.h"

#include <string.h>

/* Opens it, and a second handle of the same generator whose calls give up soon. */
static leafid_snowflake *open_both(struct lease_source *source, leafid_snowflake **impatient) {
    leafid_snowflake_options *options = lease_source_options(source, fresh_dir(), fresh_name());
    leafid_snowflake *flake = NULL;
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    CHECK_STATUS(leafid_snowflake_options_set_timeout_ms(options, 300), LEAFID_OK);
    REQUIRE_OK(leafid_snowflake_open(options, impatient));
    leafid_snowflake_options_free(options);
    return flake;
}

/* The end of every test: nothing outside, nothing beside, all given back. */
static void end(struct lease_source *source, leafid_snowflake *flake, struct ids *ids) {
    leafid_snowflake_free(flake);
    CHECK_NUMBER((int64_t)lease_source_outside(source, ids), 0);
    CHECK_NUMBER((int64_t)ids_repeated(ids), 0);
    CHECK_NUMBER(atomic_load(&source->beside), 0);
    CHECK_NUMBER(atomic_load(&source->strangers), 0);
    /* More than one where the disk was so slow that a lease was over before it was used. */
    CHECK(atomic_load(&source->releases) >= 1);
    ids_free(ids);
    lease_source_end(source);
}

/* Whoever asks meanwhile gets an id, or worker_lost. */
static void until_another_id(leafid_snowflake *flake, int64_t before, struct ids *ids) {
    for (int64_t end = now_ms() + HANG_MS; now_ms() < end;) {
        leafid_status status = make_ids(flake, 20, ids);
        if (status != LEAFID_OK && !CHECK_STATUS(status, LEAFID_WORKER_LOST)) return;
        if (ids->count && (ids->items[ids->count - 1] >> 12 & 1023) != before) return;
    }
    CHECK(!"another worker id");
}

static void lost_and_recovered(void) {
    struct lease_source *source = lease_source_new(LEASE_MS, 0);
    leafid_snowflake *flake;
    REQUIRE_OK(lease_source_open(source, &flake));
    struct ids ids = {0};
    leafid_snowflake_stats_t stats;
    REQUIRE_OK(make_ids(flake, 50, &ids));
    CHECK_NUMBER(ids.items[0] >> 12 & 1023, 0);
    atomic_store(&source->renew_fails, LEAFID_WORKER_LOST);
    EVENTUALLY(atomic_load(&source->claims) == 2);
    atomic_store(&source->renew_fails, 0);
    CHECK_NUMBER(atomic_load(&source->previous), 0);
    until_another_id(flake, 0, &ids);
    CHECK_STATUS(make_ids(flake, 1000, &ids), LEAFID_OK);
    CHECK_NUMBER(ids.items[ids.count - 1] >> 12 & 1023, 1);
    REQUIRE_OK(leafid_snowflake_stats(flake, &stats, sizeof stats));
    CHECK_NUMBER((int64_t)stats.claims, 2);
    CHECK_NUMBER(stats.worker_id, 1);
    end(source, flake, &ids);
}

static void another_worker(leafid_lease *lease) { lease->worker_id = 5; }
static void endless_token(leafid_lease *lease) { memset(lease->token, 't', sizeof lease->token); }
static void wild_until(leafid_lease *lease) { lease->until_ms = INT64_MAX; }
static void negative_lease(leafid_lease *lease) { lease->lease_ms = -5; }

/* A renewal whose answer is none is a failure: nothing of it is used. */
static void renewals_that_are_none(void) {
    const struct {
        void (*spoil)(leafid_lease *lease);
        const char *says;
    } spoilt[] = {
        {NULL, "the renewal of the lease failed: the lease source is away"},
        {another_worker, "worker_id is 5; allowed: 0, because a renewal keeps the worker id"},
        {endless_token, "token is a value that is not shown"},
        {wild_until, "until_ms is 9223372036854775807"},
        {negative_lease, "lease_ms is -5"},
    };
    for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        /* A first span lasts as long as this lease: no other follows it, whose success would clear the error. */
        struct lease_source *source = lease_source_new(3000, 0);
        leafid_snowflake *impatient, *flake = open_both(source, &impatient);
        struct ids ids = {0};
        char text[1024];
        source->spoil_renewal = spoilt[i].spoil;
        if (!spoilt[i].spoil) atomic_store(&source->renew_fails, -1);
        atomic_store(&source->claim_fails, LEAFID_WORKER_IN_USE);
        /* Until the lease is over: then it says what became of the next claim. */
        bool said = false;
        leafid_status status = LEAFID_OK;
        for (int64_t end = now_ms() + HANG_MS; status == LEAFID_OK && now_ms() < end;) {
            status = make_ids(impatient, 20, &ids);
            CHECK_STATUS(leafid_snowflake_last_error(flake, text, sizeof text, NULL), LEAFID_OK);
            said = said || strstr(text, spoilt[i].says) != NULL;
        }
        if (!CHECK(said)) fprintf(stderr, "  %s: %s\n", spoilt[i].says, text);
        CHECK_NUMBER(status, LEAFID_WORKER_LOST);
        CHECK_NUMBER((int64_t)lease_source_outside(source, &ids), 0);
        leafid_snowflake_free(impatient);
        leafid_snowflake_free(flake);
        ids_free(&ids);
        lease_source_end(source);
    }
}

int main(void) {
    test("a lease that is lost recovers with another worker id", lost_and_recovered);
    test("renewals that are none", renewals_that_are_none);
    return finish();
}
