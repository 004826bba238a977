#define _GNU_SOURCE
#include "lease_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void enter(struct lease_source *source) {
    if (atomic_fetch_add(&source->inside, 1) > 0) atomic_fetch_add(&source->beside, 1);
}

static int leave(struct lease_source *source, int status) {
    atomic_fetch_sub(&source->inside, 1);
    return status;
}

/* With the lock held: notes what is given. */
static void give(struct lease_source *source, leafid_lease *lease, int64_t worker, int64_t from_ms, int64_t until_ms) {
    source->workers[worker].until_ms = until_ms;
    snprintf(source->workers[worker].token, LEAFID_TOKEN_SIZE, "w%d-%d", (int)worker, source->serial++);
    memcpy(lease->token, source->workers[worker].token, LEAFID_TOKEN_SIZE);
    if (source->count < LEASE_SOURCE_SPANS) {
        source->spans[source->count].worker = worker;
        source->spans[source->count].from_ms = from_ms;
        source->spans[source->count].until_ms = until_ms;
        source->count++;
    }
    lease->worker_id = worker;
    lease->until_ms = until_ms;
    lease->lease_ms = source->lease_ms;
}

static int claim(void *user_data, const leafid_claim_request *request, leafid_lease *lease, char *error, size_t cap) {
    struct lease_source *source = user_data;
    enter(source);
    atomic_fetch_add(&source->claims, 1);
    atomic_store(&source->previous, request->previous);
    CHECK(request->size >= sizeof *request && lease->size >= sizeof *lease);
    CHECK_NUMBER((int64_t)strlen(request->instance), 32);
    CHECK(request->until_ms > request->now_ms && request->now_ms > now_ms() - 60000);
    CHECK(lease->worker_id == -1 && lease->token[0] == '\0' && lease->peers == 0);
    while (atomic_load(&source->hangs)) pause_ms(5);
    int fails = atomic_load(&source->claim_fails);
    if (fails) {
        snprintf(error, cap, "the lease source gives nothing");
        return leave(source, fails);
    }
    int64_t worker = 0;
    pthread_mutex_lock(&source->lock);
    while (worker < LEASE_SOURCE_IDS && source->workers[worker].held) worker++;
    if (worker < LEASE_SOURCE_IDS) {
        int64_t now = now_ms(), before = source->workers[worker].until_ms;
        lease->from_ms = before > now ? before : now;
        source->workers[worker].held = true;
        give(source, lease, worker, lease->from_ms, lease->from_ms + source->span_ms);
    }
    pthread_mutex_unlock(&source->lock);
    if (worker == LEASE_SOURCE_IDS) return leave(source, LEAFID_WORKER_IN_USE);
    if (source->spoil) source->spoil(lease);
    return leave(source, LEAFID_OK);
}

/* With the lock held: the worker id of a lease whose token is the last one given, or -1. */
static int64_t known(struct lease_source *source, const leafid_lease *lease) {
    bool known = lease->worker_id >= 0 && lease->worker_id < LEASE_SOURCE_IDS &&
                 strcmp(lease->token, source->workers[lease->worker_id].token) == 0;
    if (!known) atomic_fetch_add(&source->strangers, 1);
    return known ? lease->worker_id : -1;
}

static int renew(void *user_data, leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    struct lease_source *source = user_data;
    enter(source);
    pause_ms(atomic_load(&source->slow_ms));
    while (atomic_load(&source->hangs)) pause_ms(5);
    int fails = atomic_load(&source->renew_fails);
    if (fails) {
        atomic_fetch_add(&source->refusals, 1);
        if (fails != LEAFID_WORKER_LOST) snprintf(error, cap, "the lease source is away");
        return leave(source, fails);
    }
    CHECK(lease->size >= sizeof *lease && until_ms > now_ms() - 60000);
    pthread_mutex_lock(&source->lock);
    int64_t worker = known(source, lease), until = now_ms() + source->span_ms;
    if (worker >= 0) {
        int64_t before = source->workers[worker].until_ms;
        give(source, lease, worker, before, until > before ? until : before);
    }
    if (source->spoil_renewal && worker >= 0) {
        source->spoil_renewal(lease);
        /* It has no holder. */
        source->count--;
    }
    pthread_mutex_unlock(&source->lock);
    atomic_fetch_add(&source->renewals, 1);
    return leave(source, worker < 0 ? LEAFID_WORKER_LOST : LEAFID_OK);
}

static int release(void *user_data, const leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    struct lease_source *source = user_data;
    (void)error, (void)cap;
    enter(source);
    pthread_mutex_lock(&source->lock);
    int64_t worker = known(source, lease);
    if (worker >= 0 && !source->workers[worker].held) atomic_fetch_add(&source->strangers, 1);
    if (worker >= 0) {
        source->workers[worker].held = false;
        source->workers[worker].until_ms = until_ms;
    }
    pthread_mutex_unlock(&source->lock);
    atomic_store(&source->released_until_ms, until_ms);
    atomic_fetch_add(&source->releases, 1);
    return leave(source, LEAFID_OK);
}

static void freed(void *user_data) {
    struct lease_source *source = user_data;
    atomic_fetch_add(&source->freed, 1);
}

struct lease_source *lease_source_new(int64_t span_ms, int64_t lease_ms) {
    pthread_mutexattr_t shared;
    struct lease_source *source = shared_new(sizeof *source);
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&source->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    source->span_ms = span_ms;
    source->lease_ms = lease_ms;
    return source;
}

void lease_source_end(struct lease_source *source) {
    EVENTUALLY(atomic_load(&source->freed) == 1);
    CHECK_NUMBER(atomic_load(&source->inside), 0);
    if (atomic_load(&source->freed) == 1) shared_end(source, sizeof *source);
}

leafid_snowflake_options *lease_source_options(struct lease_source *source, const char *dir, const char *name) {
    const leafid_worker_leases functions = {sizeof functions, claim, renew, release};
    leafid_snowflake_options *options = options_for(dir, name, "0");
    CHECK_STATUS(leafid_snowflake_options_set_worker_leases(options, &functions, source, freed), LEAFID_OK);
    return options;
}

leafid_status lease_source_open(struct lease_source *source, leafid_snowflake **out) {
    leafid_snowflake_options *options = lease_source_options(source, fresh_dir(), fresh_name());
    leafid_status status = leafid_snowflake_open(options, out);
    leafid_snowflake_options_free(options);
    return status;
}

size_t lease_source_outside(struct lease_source *source, const struct ids *ids) {
    size_t outside = 0;
    pthread_mutex_lock(&source->lock);
    for (size_t i = 0; i < ids->count; i++) {
        leafid_parts parts;
        bool inside = false;
        if (leafid_decode(ids->items[i], NULL, &parts) != LEAFID_OK) continue;
        for (size_t k = 0; k < source->count && !inside; k++) {
            inside = source->spans[k].worker == parts.worker_id && parts.timestamp_ms >= source->spans[k].from_ms &&
                     parts.timestamp_ms < source->spans[k].until_ms;
        }
        outside += !inside;
    }
    pthread_mutex_unlock(&source->lock);
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
        alarm(HANG_S);
        struct ids own = {0};
        /* Beyond its first span: the child's lease is renewed as well. */
        leafid_status status = make_ids(flake, LEASE_MS / 2 + 300, &own);
        size_t step = own.count / 8;
        for (size_t i = 0; i < 8 && step; i++) {
            if (write(ends[1], &own.items[i * step], sizeof(int64_t)) != sizeof(int64_t)) _exit(9);
        }
        leafid_snowflake_free(flake);
        _exit(status == LEAFID_OK ? 0 : 100 + status);
    }
    CHECK_STATUS(make_ids(flake, LEASE_MS / 2 + 300, ids), LEAFID_OK);
    reap(child);
    close(ends[1]);
    CHECK(read(ends[0], childs, 8 * sizeof *childs) == 8 * sizeof *childs);
    close(ends[0]);
}
#endif
