/* Where worker ids come from, with other processes: a callback and leases in forked children, who ask once more and
   name their parent's id; ids by the host's name. */
#define _GNU_SOURCE
#include "lease_source.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared by all processes of a test. */
struct pool {
    atomic_int next, calls, freed;
    _Atomic int64_t previous, ids[8];
};

static int claim(void *user_data, const char *name, int64_t previous, int64_t *worker_id, char *error, size_t cap) {
    struct pool *pool = user_data;
    (void)name, (void)error, (void)cap;
    atomic_fetch_add(&pool->calls, 1);
    atomic_store(&pool->previous, previous);
    *worker_id = atomic_fetch_add(&pool->next, 1);
    return LEAFID_OK;
}

static void freed(void *user_data) {
    struct pool *pool = user_data;
    atomic_fetch_add(&pool->freed, 1);
}

/* As a program that makes its processes by hand: no thread can be made there. */
static pid_t raw_clone(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* A generator in use whose callback answers 40, then 41, ...; the pool is seen by children, too. */
static struct pool *open_by_callback(leafid_snowflake **flake) {
    struct pool *pool = mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pool != MAP_FAILED);
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "0");
    int64_t id;
    atomic_store(&pool->next, 40);
    CHECK_STATUS(leafid_snowflake_options_set_worker_callback(options, claim, pool, freed), LEAFID_OK);
    leafid_status status = leafid_snowflake_open(options, flake);
    leafid_snowflake_options_free(options);
    REQUIRE_OK(status);
    REQUIRE_OK(leafid_snowflake_next(*flake, &id));
    return pool;
}

static void callback_in_forks(void) {
    leafid_snowflake *flake;
    struct pool *pool = open_by_callback(&flake);
    int64_t id;
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    CHECK_NUMBER(id >> 12 & 1023, 40);
    for (int i = 0; i < 3; i++) {
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(HANG_S);
            /* The parent's call is not the child's: this one asks, and no other. */
            bool good = true;
            for (int k = 0; k < 3; k++) {
                good = good && leafid_snowflake_next(flake, &id) == LEAFID_OK && (id >> 12 & 1023) == 41 + i;
            }
            leafid_snowflake_free(flake);
            _exit(good ? 0 : 1);
        }
        reap(child);
        CHECK_NUMBER(atomic_load(&pool->calls), 2 + i);
        CHECK_NUMBER(atomic_load(&pool->previous), 40);
    }
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    CHECK_NUMBER(id >> 12 & 1023, 40);
    /* The children freed their handles: the user_data is the parent's. */
    CHECK_NUMBER(atomic_load(&pool->freed), 0);
    leafid_snowflake_free(flake);
    EVENTUALLY(atomic_load(&pool->freed) == 1);
    CHECK_NUMBER(atomic_load(&pool->calls), 4);
}

/* A handle and options that nothing else holds: a child that gives them back leaves the user_data to its parent. */
static void freed_by_a_child(void) {
    struct pool *pool = mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pool != MAP_FAILED);
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "0");
    leafid_snowflake *unused;
    CHECK_STATUS(leafid_snowflake_options_set_lazy(options, 1), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_worker_callback(options, claim, pool, freed), LEAFID_OK);
    REQUIRE_OK(leafid_snowflake_open(options, &unused));
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        leafid_snowflake_options_free(options);
        leafid_snowflake_free(unused);
        _exit(atomic_load(&pool->freed));
    }
    reap(child);
    leafid_snowflake_options_free(options);
    CHECK_NUMBER(atomic_load(&pool->freed), 0);
    leafid_snowflake_free(unused);
    CHECK_NUMBER(atomic_load(&pool->freed), 1);
    CHECK_NUMBER(atomic_load(&pool->calls), 0);
}

/* Where no thread can be made the callback is not called: never on the asking thread. */
static void callback_in_clones(void) {
    leafid_snowflake *flake;
    struct pool *pool = open_by_callback(&flake);
    int64_t id;
    fflush(NULL);
    pid_t child = raw_clone();
    REQUIRE(child >= 0);
    if (child == 0) {
        char said[512];
        alarm(HANG_S);
        bool good = leafid_snowflake_next(flake, &id) == LEAFID_STATE_IO;
        leafid_last_error(said, sizeof said);
        _exit(good && strstr(said, "cannot start a thread") && strstr(said, "raw clone") ? 0 : 1);
    }
    reap(child);
    CHECK_NUMBER(atomic_load(&pool->calls), 1);
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    leafid_snowflake_free(flake);
}

/* Children come while a renewal of their parent's is under way: it is not theirs, and none of them hangs. */
static void forks_beside_calls(void) {
    enum { CHILDREN = 7, EACH = 20 };
    struct lease_source *source = lease_source_new(LEASE_MS, 0);
    struct ids ids = {0};
    leafid_snowflake *flake;
    int64_t *childs = mmap(NULL, CHILDREN * EACH * sizeof *childs, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(childs != MAP_FAILED);
    atomic_store(&source->slow_ms, 60);
    REQUIRE_OK(lease_source_open(source, &flake));
    pthread_mutex_lock(&source->lock);
    /* Short, and long enough for timers that are late. */
    source->span_ms = 2000;
    source->lease_ms = 1000;
    pthread_mutex_unlock(&source->lock);
    for (int i = 0; i < CHILDREN; i++) {
        for (int64_t end = now_ms() + HANG_MS; atomic_load(&source->inside) == 0 && now_ms() < end;) {
            REQUIRE_OK(make_ids(flake, 2, &ids));
        }
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(HANG_S);
            leafid_status status = LEAFID_OK;
            for (int k = 0; k < EACH && status == LEAFID_OK; k++) {
                status = leafid_snowflake_next(flake, &childs[i * EACH + k]);
            }
            if (status != LEAFID_OK) {
                char said[512];
                leafid_last_error(said, sizeof said);
                fprintf(stderr, "child %d: %s\n", i, said);
            }
            leafid_snowflake_free(flake);
            _exit(status);
        }
        reap(child);
    }
    ids_add(&ids, childs, CHILDREN * EACH);
    leafid_snowflake_free(flake);
    CHECK_NUMBER((int64_t)lease_source_outside(source, &ids), 0);
    CHECK_NUMBER((int64_t)ids_repeated(&ids), 0);
    /* More where the machine was so busy that a lease was over before it was renewed. */
    CHECK(atomic_load(&source->claims) >= 1 + CHILDREN);
    CHECK(atomic_load(&source->releases) >= CHILDREN);
    CHECK_NUMBER(atomic_load(&source->strangers), 0);
    munmap(childs, CHILDREN * EACH * sizeof *childs);
    ids_free(&ids);
    lease_source_end(source);
}

static void leases_in_a_child(void) {
    struct lease_source *source = lease_source_new(LEASE_MS, 0);
    leafid_snowflake *flake;
    struct ids ids = {0};
    int64_t childs[8];
    REQUIRE_OK(lease_source_open(source, &flake));
    make_ids_beside_a_child(flake, &ids, childs);
    for (int i = 0; i < 8; i++) CHECK_NUMBER(childs[i] >> 12 & 1023, 1);
    ids_add(&ids, childs, 8);
    CHECK_NUMBER(atomic_load(&source->claims), 2);
    CHECK_NUMBER(atomic_load(&source->previous), 0);
    /* The child gave back its own, and nothing of its parent's. */
    EVENTUALLY(atomic_load(&source->releases) == 1);
    CHECK(!source->workers[1].held && source->workers[0].held);
    CHECK_NUMBER(atomic_load(&source->freed), 0);
    leafid_snowflake_free(flake);
    EVENTUALLY(atomic_load(&source->releases) == 2);
    CHECK_NUMBER(atomic_load(&source->strangers), 0);
    CHECK_NUMBER((int64_t)lease_source_outside(source, &ids), 0);
    CHECK_NUMBER((int64_t)ids_repeated(&ids), 0);
    ids_free(&ids);
    lease_source_end(source);
}

/* In a child: gives its host a name that only it sees. */
static bool own_hostname(const char *host) {
    return (unshare(CLONE_NEWUSER | CLONE_NEWUTS) == 0 || unshare(CLONE_NEWUTS) == 0) &&
           sethostname(host, strlen(host)) == 0;
}

static int with_a_hostname(void) {
    leafid_snowflake *flake;
    uint32_t worker = 0;
    if (!own_hostname("orders-12.orders.example")) return 9;
    if (open_flake(fresh_dir(), fresh_name(), "hostname:orders", &flake) != LEAFID_OK) return 1;
    if (leafid_snowflake_worker_id(flake, &worker) != LEAFID_OK || worker != 12) return 2;
    leafid_snowflake_free(flake);
    if (open_flake(fresh_dir(), fresh_name(), "hostname:orders*8", &flake) != LEAFID_OK) return 3;
    if (leafid_snowflake_worker_id(flake, &worker) != LEAFID_OK || worker < 96 || worker > 103) return 4;
    leafid_snowflake_free(flake);
    if (open_flake(fresh_dir(), fresh_name(), "hostname:orders*100", &flake) != LEAFID_INVALID_ARGUMENT) return 5;
    return 0;
}

static void by_hostname(void) {
    fflush(NULL);
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(with_a_hostname());
    reap(child);
}

static bool may_have_a_hostname(void) {
    pid_t child = fork();
    int status = -1;
    if (child == 0) _exit(own_hostname("orders-0") ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int main(void) {
    test("a callback in forked children", callback_in_forks);
    test_forks_beside("no callback in raw clones", callback_in_clones);
    test("a user_data that a child gives back stays its parent's", freed_by_a_child);
    test("leases in a forked child", leases_in_a_child);
    test_forks_beside("forks while renewals are under way", forks_beside_calls);
    const char *hosts = "worker ids by the host's name";
    if (may_have_a_hostname()) {
        test(hosts, by_hostname);
    } else {
        skip(hosts, "the host's name cannot be changed here, not even in a namespace");
    }
    return finish();
}
