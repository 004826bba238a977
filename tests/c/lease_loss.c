/* Renewals that are none. What comes of a lease that is lost, tests/scenarios/api/lease_losses.json has. */
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
    enum { CASES = sizeof spoilt / sizeof *spoilt };
    struct {
        struct lease_source *source;
        leafid_snowflake *flake, *impatient;
        struct ids ids;
        bool said;
        leafid_status status;
    } all[CASES] = {0};
    for (size_t i = 0; i < CASES; i++) {
        /* A first span lasts as long as this lease: no other follows it, whose success would clear the error. */
        all[i].source = lease_source_new(LEASE_MS, 0);
        all[i].flake = open_both(all[i].source, &all[i].impatient);
        all[i].source->spoil_renewal = spoilt[i].spoil;
        if (!spoilt[i].spoil) atomic_store(&all[i].source->renew_fails, -1);
        atomic_store(&all[i].source->claim_fails, LEAFID_WORKER_IN_USE);
    }
    /* Until the leases are over: then they say what became of the next claim. */
    size_t over = 0;
    for (int64_t end = now_ms() + HANG_MS; over < CASES && now_ms() < end;) {
        over = 0;
        for (size_t i = 0; i < CASES; i++) {
            char text[1024];
            if (all[i].status == LEAFID_OK) all[i].status = make_ids(all[i].impatient, 5, &all[i].ids);
            /* A disk that is late, and no loss. */
            if (all[i].status == LEAFID_STATE_IO) all[i].status = LEAFID_OK;
            CHECK_STATUS(leafid_snowflake_last_error(all[i].flake, text, sizeof text, NULL), LEAFID_OK);
            all[i].said = all[i].said || strstr(text, spoilt[i].says) != NULL;
            over += all[i].status != LEAFID_OK;
        }
    }
    for (size_t i = 0; i < CASES; i++) {
        if (!CHECK(all[i].said)) fprintf(stderr, "  %s was not said\n", spoilt[i].says);
        CHECK_NUMBER(all[i].status, LEAFID_WORKER_LOST);
        CHECK_NUMBER((int64_t)lease_source_outside(all[i].source, &all[i].ids), 0);
        leafid_snowflake_free(all[i].impatient);
        leafid_snowflake_free(all[i].flake);
        ids_free(&all[i].ids);
        lease_source_end(all[i].source);
    }
}

int main(void) {
    test("renewals that are none", renewals_that_are_none);
    return finish();
}
