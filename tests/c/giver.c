#define _GNU_SOURCE
#include "giver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void enter(struct giver *giver) {
    if (atomic_fetch_add(&giver->inside, 1) > 0) atomic_fetch_add(&giver->beside, 1);
}

static int leave(struct giver *giver, int status) {
    atomic_fetch_sub(&giver->inside, 1);
    return status;
}

/* With the lock held: notes what is given. */
static void give(struct giver *giver, leafid_lease *lease, int64_t worker, int64_t from_ms, int64_t until_ms) {
    giver->workers[worker].until_ms = until_ms;
    snprintf(giver->workers[worker].token, LEAFID_TOKEN_SIZE, "w%d-%d", (int)worker, giver->serial++);
    memcpy(lease->token, giver->workers[worker].token, LEAFID_TOKEN_SIZE);
    if (giver->count < GIVER_SPANS) {
        giver->spans[giver->count].worker = worker;
        giver->spans[giver->count].from_ms = from_ms;
        giver->spans[giver->count].until_ms = until_ms;
        giver->count++;
    }
    lease->worker_id = worker;
    lease->until_ms = until_ms;
    lease->lease_ms = giver->lease_ms;
}

static int claim(void *user_data, const leafid_claim_request *request, leafid_lease *lease, char *error, size_t cap) {
    struct giver *giver = user_data;
    enter(giver);
    atomic_fetch_add(&giver->claims, 1);
    atomic_store(&giver->previous, request->previous);
    CHECK(request->size >= sizeof *request && lease->size >= sizeof *lease);
    CHECK_NUMBER((int64_t)strlen(request->instance), 32);
    CHECK(request->until_ms > request->now_ms && request->now_ms > now_ms() - 60000);
    CHECK(lease->worker_id == -1 && lease->token[0] == '\0' && lease->peers == 0);
    while (atomic_load(&giver->hangs)) pause_ms(5);
    int fails = atomic_load(&giver->claim_fails);
    if (fails) {
        snprintf(error, cap, "the giver gives nothing");
        return leave(giver, fails);
    }
    int64_t worker = 0;
    pthread_mutex_lock(&giver->lock);
    while (worker < GIVER_IDS && giver->workers[worker].held) worker++;
    if (worker < GIVER_IDS) {
        int64_t now = now_ms(), before = giver->workers[worker].until_ms;
        lease->from_ms = before > now ? before : now;
        giver->workers[worker].held = true;
        give(giver, lease, worker, lease->from_ms, lease->from_ms + giver->span_ms);
    }
    pthread_mutex_unlock(&giver->lock);
    if (worker == GIVER_IDS) return leave(giver, LEAFID_WORKER_IN_USE);
    if (giver->spoil) giver->spoil(lease);
    return leave(giver, LEAFID_OK);
}

/* With the lock held: the worker id of a lease whose token is the last one given, or -1. */
static int64_t known(struct giver *giver, const leafid_lease *lease) {
    bool known = lease->worker_id >= 0 && lease->worker_id < GIVER_IDS &&
                 strcmp(lease->token, giver->workers[lease->worker_id].token) == 0;
    if (!known) atomic_fetch_add(&giver->strangers, 1);
    return known ? lease->worker_id : -1;
}

static int renew(void *user_data, leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    struct giver *giver = user_data;
    enter(giver);
    pause_ms(atomic_load(&giver->slow_ms));
    while (atomic_load(&giver->hangs)) pause_ms(5);
    int fails = atomic_load(&giver->renew_fails);
    if (fails) {
        atomic_fetch_add(&giver->refusals, 1);
        if (fails != LEAFID_WORKER_LOST) snprintf(error, cap, "the giver is away");
        return leave(giver, fails);
    }
    CHECK(lease->size >= sizeof *lease && until_ms > now_ms() - 60000);
    pthread_mutex_lock(&giver->lock);
    int64_t worker = known(giver, lease), until = now_ms() + giver->span_ms;
    if (worker >= 0) {
        int64_t before = giver->workers[worker].until_ms;
        give(giver, lease, worker, before, until > before ? until : before);
    }
    if (giver->spoil_renewal && worker >= 0) {
        giver->spoil_renewal(lease);
        /* Given to nobody. */
        giver->count--;
    }
    pthread_mutex_unlock(&giver->lock);
    atomic_fetch_add(&giver->renewals, 1);
    return leave(giver, worker < 0 ? LEAFID_WORKER_LOST : LEAFID_OK);
}

static int release(void *user_data, const leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    struct giver *giver = user_data;
    (void)error, (void)cap;
    enter(giver);
    pthread_mutex_lock(&giver->lock);
    int64_t worker = known(giver, lease);
    if (worker >= 0 && !giver->workers[worker].held) atomic_fetch_add(&giver->strangers, 1);
    if (worker >= 0) giver->workers[worker].held = false;
    pthread_mutex_unlock(&giver->lock);
    atomic_store(&giver->released_until_ms, until_ms);
    atomic_fetch_add(&giver->releases, 1);
    return leave(giver, LEAFID_OK);
}

static void freed(void *user_data) {
    struct giver *giver = user_data;
    atomic_fetch_add(&giver->freed, 1);
}

struct giver *giver_new(int64_t span_ms, int64_t lease_ms) {
    pthread_mutexattr_t shared;
    struct giver *giver = shared_new(sizeof *giver);
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&giver->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    giver->span_ms = span_ms;
    giver->lease_ms = lease_ms;
    return giver;
}

void giver_end(struct giver *giver) {
    EVENTUALLY(atomic_load(&giver->freed) == 1);
    CHECK_NUMBER(atomic_load(&giver->inside), 0);
    if (atomic_load(&giver->freed) == 1) shared_end(giver, sizeof *giver);
}

leafid_snowflake_options *giver_options(struct giver *giver, const char *dir, const char *name) {
    const leafid_worker_leases functions = {sizeof functions, claim, renew, release};
    leafid_snowflake_options *options = options_for(dir, name, "0");
    CHECK_STATUS(leafid_snowflake_options_set_worker_leases(options, &functions, giver, freed), LEAFID_OK);
    return options;
}

leafid_status giver_open(struct giver *giver, leafid_snowflake **out) {
    leafid_snowflake_options *options = giver_options(giver, fresh_dir(), fresh_name());
    leafid_status status = leafid_snowflake_open(options, out);
    leafid_snowflake_options_free(options);
    return status;
}

size_t giver_outside(struct giver *giver, const struct ids *ids) {
    size_t outside = 0;
    pthread_mutex_lock(&giver->lock);
    for (size_t i = 0; i < ids->count; i++) {
        leafid_parts parts;
        bool inside = false;
        if (leafid_decode(ids->items[i], NULL, &parts) != LEAFID_OK) continue;
        for (size_t k = 0; k < giver->count && !inside; k++) {
            inside = giver->spans[k].worker == parts.worker_id && parts.timestamp_ms >= giver->spans[k].from_ms &&
                     parts.timestamp_ms < giver->spans[k].until_ms;
        }
        outside += !inside;
    }
    pthread_mutex_unlock(&giver->lock);
    return outside;
}

leafid_status make_ids(leafid_snowflake *flake, int64_t for_ms, struct ids *ids) {
    for (int64_t end = now_ms() + for_ms; now_ms() < end; pause_ms(1)) {
        int64_t id;
        leafid_status status = leafid_snowflake_next(flake, &id);
        if (status != LEAFID_OK) return status;
        CHECK(ids->count == 0 || id > ids->items[ids->count - 1]);
        ids_add(ids, &id, 1);
    }
    return LEAFID_OK;
}

#ifndef _WIN32
void make_ids_beside_a_child(leafid_snowflake *flake, struct ids *ids, int64_t childs[8]) {
    int ends[2];
    REQUIRE_OK(make_ids(flake, 50, ids));
    REQUIRE(pipe(ends) == 0);
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(30);
        struct ids own = {0};
        /* Beyond its first span: the child's lease is renewed as well. */
        leafid_status status = make_ids(flake, 1500, &own);
        size_t step = own.count / 8;
        for (size_t i = 0; i < 8 && step; i++) {
            if (write(ends[1], &own.items[i * step], sizeof(int64_t)) != sizeof(int64_t)) _exit(9);
        }
        leafid_snowflake_free(flake);
        _exit(status == LEAFID_OK ? 0 : 100 + status);
    }
    CHECK_STATUS(make_ids(flake, 1500, ids), LEAFID_OK);
    reap(child);
    close(ends[1]);
    CHECK(read(ends[0], childs, 8 * sizeof *childs) == 8 * sizeof *childs);
    close(ends[0]);
}
#endif
