/* Worker ids from a callback: what it is asked, and what comes of every answer it can give. */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* What the callback answers, and what it saw. */
struct script {
    int status;
    int64_t id;
    const char *text;
    bool keeps_id;
    atomic_bool hangs;
    atomic_int calls, inside, freed;
    _Atomic int64_t previous;
    atomic_bool same_thread, other_name;
    pthread_t caller;
    const char *name;
};

static int claim(void *user_data, const char *name, int64_t previous, int64_t *worker_id, char *error, size_t cap) {
    struct script *script = user_data;
    atomic_fetch_add(&script->inside, 1);
    atomic_fetch_add(&script->calls, 1);
    atomic_store(&script->previous, previous);
    if (script->name) {
        atomic_store(&script->same_thread, pthread_equal(pthread_self(), script->caller) != 0);
        atomic_store(&script->other_name, strcmp(name, script->name) != 0);
    }
    while (atomic_load(&script->hangs)) pause_ms(5);
    if (script->text) strncpy(error, script->text, cap);
    if (!script->keeps_id) *worker_id = script->id;
    int status = script->status;
    atomic_fetch_sub(&script->inside, 1);
    return status;
}

static void freed(void *user_data) {
    struct script *script = user_data;
    atomic_fetch_add(&script->freed, 1);
}

static leafid_snowflake_options *scripted(struct script *script, const char *name) {
    /* What is set last counts. */
    leafid_snowflake_options *options = options_for(fresh_dir(), name, "0");
    CHECK_STATUS(leafid_snowflake_options_set_worker_callback(options, claim, script, freed), LEAFID_OK);
    return options;
}

static void asked_once(void) {
    char name[64];
    snprintf(name, sizeof name, "%s", fresh_name());
    struct script script = {.id = 1023, .caller = pthread_self(), .name = name};
    leafid_snowflake_options *options = scripted(&script, name);
    leafid_snowflake *first, *second;
    leafid_snowflake_stats_t stats;
    int64_t a = 0, b = 0;
    CHECK_NUMBER(atomic_load(&script.calls), 0);
    REQUIRE_OK(leafid_snowflake_open(options, &first));
    CHECK_NUMBER(atomic_load(&script.previous), -1);
    CHECK(!atomic_load(&script.same_thread));
    CHECK(!atomic_load(&script.other_name));

    /* The same function and user_data, set again: the same generator. */
    CHECK_STATUS(leafid_snowflake_options_set_worker_callback(options, claim, &script, freed), LEAFID_OK);
    REQUIRE_OK(leafid_snowflake_open(options, &second));
    leafid_snowflake_options_free(options);
    CHECK_NUMBER(atomic_load(&script.calls), 1);
    REQUIRE_OK(leafid_snowflake_next(first, &a));
    REQUIRE_OK(leafid_snowflake_next(second, &b));
    CHECK(b > a);
    CHECK_NUMBER(a >> 12 & 1023, 1023);
    REQUIRE_OK(leafid_snowflake_stats(second, &stats, sizeof stats));
    CHECK_NUMBER((int64_t)stats.handles, 2);
    CHECK_NUMBER((int64_t)stats.claims, 1);
    CHECK_NUMBER(stats.lease_until_ms, 0);

    CHECK_NUMBER(atomic_load(&script.freed), 0);
    leafid_snowflake_free(first);
    leafid_snowflake_free(second);
    EVENTUALLY(atomic_load(&script.freed) == 2);
    CHECK_NUMBER(atomic_load(&script.calls), 1);
}

static void freed_when_unused(void) {
    struct script script = {.id = 1};
    leafid_snowflake_options *options = scripted(&script, fresh_name());
    /* Replaced, refused, and unused. */
    CHECK_STATUS(leafid_snowflake_options_set_worker(options, "3"), LEAFID_OK);
    CHECK_NUMBER(atomic_load(&script.freed), 1);
    CHECK_STATUS(leafid_snowflake_options_set_worker_callback(options, NULL, &script, freed),
                 LEAFID_INVALID_ARGUMENT);
    CHECK_NUMBER(atomic_load(&script.freed), 2);
    CHECK_STATUS(leafid_snowflake_options_set_worker_callback(NULL, claim, &script, freed), LEAFID_INVALID_ARGUMENT);
    CHECK_NUMBER(atomic_load(&script.freed), 3);
    CHECK_STATUS(leafid_snowflake_options_set_peer_times(options, NULL, &script, freed), LEAFID_INVALID_ARGUMENT);
    CHECK_NUMBER(atomic_load(&script.freed), 4);
    CHECK_STATUS(leafid_snowflake_options_set_worker_leases(options, NULL, &script, freed), LEAFID_INVALID_ARGUMENT);
    CHECK_NUMBER(atomic_load(&script.freed), 5);
    leafid_snowflake_options_free(options);
    CHECK_NUMBER(atomic_load(&script.freed), 5);
    CHECK_NUMBER(atomic_load(&script.calls), 0);
}

static void every_answer(void) {
    static char endless[4096];
    memset(endless, 'x', sizeof endless - 1);
    const struct {
        struct script script;
        leafid_status status;
        const char *says;
    } answers[] = {
        {{.id = 1024}, LEAFID_INVALID_ARGUMENT, "worker_id is 1024; allowed: "},
        {{.id = -1}, LEAFID_INVALID_ARGUMENT, "worker_id is -1; allowed: "},
        {{.id = INT64_MAX}, LEAFID_INVALID_ARGUMENT, "worker_id is 9223372036854775807; allowed: "},
        {{.id = INT64_MIN}, LEAFID_INVALID_ARGUMENT, "worker_id is -9223372036854775808; allowed: "},
        {{.id = INT64_C(1) << 32}, LEAFID_INVALID_ARGUMENT, "worker_id is 4294967296; allowed: "},
        {{.keeps_id = true}, LEAFID_INVALID_ARGUMENT, "worker_id is -1; allowed: "},
        {{.status = -1, .text = "the table is locked"}, LEAFID_WORKER_LOST, "failed: the table is locked"},
        {{.status = -1}, LEAFID_WORKER_LOST, "failed: it returned -1 without a text"},
        {{.status = 99, .text = "odd"}, LEAFID_WORKER_LOST, "failed: odd"},
        {{.status = INT_MIN, .text = "\377\376"}, LEAFID_WORKER_LOST, "failed: \357\277\275"},
        {{.status = -1, .text = endless}, LEAFID_WORKER_LOST, "failed: xxxxxxxx"},
        {{.status = LEAFID_WORKER_IN_USE}, LEAFID_WORKER_IN_USE, "found no free worker id"},
        {{.status = LEAFID_WORKER_IN_USE, .text = "all 8 taken"}, LEAFID_WORKER_IN_USE, "all 8 taken"},
        {{.status = LEAFID_STATE_IO, .text = "no route"}, LEAFID_STATE_IO, "failed: no route"},
        {{.status = LEAFID_INVALID_ARGUMENT, .text = "no such pool"}, LEAFID_INVALID_ARGUMENT, "no such pool"},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct script script = {.status = answers[i].script.status,
                                .id = answers[i].script.id,
                                .text = answers[i].script.text,
                                .keeps_id = answers[i].script.keeps_id};
        leafid_snowflake_options *options = scripted(&script, fresh_name());
        leafid_snowflake *flake = NULL;
        CHECK_STATUS(leafid_snowflake_open(options, &flake), answers[i].status);
        CHECK_SAYS(answers[i].says);
        CHECK(flake == NULL);
        CHECK_NUMBER(atomic_load(&script.calls), 1);
        /* The next opening asks again, and an id is an id. */
        script.status = 0;
        script.id = 5;
        script.keeps_id = false;
        CHECK_STATUS(leafid_snowflake_open(options, &flake), LEAFID_OK);
        CHECK_NUMBER(atomic_load(&script.calls), 2);
        leafid_snowflake_options_free(options);
        leafid_snowflake_free(flake);
        EVENTUALLY(atomic_load(&script.freed) == 1);
    }
}

static void hangs(void) {
    struct script script = {.id = 4, .hangs = true};
    leafid_snowflake_options *options = scripted(&script, fresh_name());
    leafid_snowflake *flake = NULL;
    CHECK_STATUS(leafid_snowflake_options_set_timeout_ms(options, 2000), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_open(options, &flake), LEAFID_WORKER_LOST);
    CHECK_SAYS("did not answer within timeout_ms (2000)");
    CHECK(flake == NULL);
    leafid_snowflake_options_free(options);
    /* It is still inside, with its user_data. */
    CHECK_NUMBER(atomic_load(&script.inside), 1);
    CHECK_NUMBER(atomic_load(&script.freed), 0);
    atomic_store(&script.hangs, false);
    EVENTUALLY(atomic_load(&script.freed) == 1);
    CHECK_NUMBER(atomic_load(&script.inside), 0);
}

static void lazily(void) {
    struct script script = {.status = -1, .text = "not yet"};
    leafid_snowflake_options *options = scripted(&script, fresh_name());
    leafid_snowflake *flake;
    int64_t id = 42;
    CHECK_STATUS(leafid_snowflake_options_set_lazy(options, 1), LEAFID_OK);
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);
    CHECK_NUMBER(atomic_load(&script.calls), 0);
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_WORKER_LOST);
    CHECK_SAYS("not yet");
    CHECK_NUMBER(id, 42);
    script.status = 0;
    script.id = 17;
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
    CHECK_NUMBER(id >> 12 & 1023, 17);
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
    CHECK_NUMBER(atomic_load(&script.calls), 2);
    leafid_snowflake_free(flake);
    EVENTUALLY(atomic_load(&script.freed) == 1);
}

int main(void) {
    test("a callback is asked once, on another thread, and freed at the end", asked_once);
    test("a user_data that comes to no use is given back", freed_when_unused);
    test("every answer a callback can give", every_answer);
    test("a callback that hangs, and comes back", hangs);
    test("lazy: the first id asks", lazily);
    return finish();
}
