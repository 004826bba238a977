/* Forks of every kind: children continue with ids of their own, and no id of any relative is repeated. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 34)
#define HAS_UNDERSCORE_FORK 1
#endif
#endif

/* Every process writes its ids here, in pieces that a pipe takes whole. */
static int pipe_ends[2];
static struct ids all;

static pid_t plain_fork(void) {
    return fork();
}

#ifdef HAS_UNDERSCORE_FORK
static pid_t bare_fork(void) {
    return _Fork();
}
#endif

/* As a program that makes its processes by hand: the C library knows nothing of it. */
static pid_t raw_clone(void) {
    return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void send_ids(const int64_t *ids, size_t count) {
    while (count > 0) {
        size_t some = count < 64 ? count : 64;
        if (write(pipe_ends[1], ids, some * sizeof *ids) != (ssize_t)(some * sizeof *ids)) _exit(9);
        ids += some;
        count -= some;
    }
}

/* In a child: 300 ids, one by one and in a run. The exit status says what went wrong. */
static void work_as_child(leafid_snowflake *flake) {
    int64_t ids[300];
    leafid_status status = LEAFID_OK;
    for (int i = 0; i < 200 && status == LEAFID_OK; i++) status = leafid_snowflake_next(flake, &ids[i]);
    if (status == LEAFID_OK) status = leafid_snowflake_fill(flake, ids + 200, 100);
    end_unless_ok(status);
    send_ids(ids, 300);
}

static void take_here(leafid_snowflake *flake, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        ids_add(&all, &id, 1);
    }
}

static leafid_snowflake *open_family(void) {
    leafid_snowflake *flake;
    ids_free(&all);
    REQUIRE(pipe(pipe_ends) == 0);
    REQUIRE_OK(open_flake(fresh_dir(), fresh_name(), "0-63", &flake));
    return flake;
}

static void close_family(leafid_snowflake *flake, size_t expected) {
    CHECK_NUMBER((int64_t)all.count, (int64_t)expected);
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    leafid_snowflake_free(flake);
}

/* 20 children that live at the same time as their parent and each other. */
static void family(pid_t (*split)(void)) {
    leafid_snowflake *flake = open_family();
    uint32_t parents = 99, childs = 99;
    pid_t children[20];
    take_here(flake, 1000);
    CHECK_STATUS(leafid_snowflake_worker_id(flake, &parents), LEAFID_OK);
    for (int i = 0; i < 20; i++) {
        fflush(NULL);
        children[i] = split();
        REQUIRE(children[i] >= 0);
        if (children[i] == 0) {
            alarm(HANG_S);
            work_as_child(flake);
            bool own = leafid_snowflake_worker_id(flake, &childs) == LEAFID_OK && childs != parents;
            _exit(own ? 0 : 8);
        }
        take_here(flake, 100);
    }
    ids_receive(&all, pipe_ends[0], 1000 + 20 * 400);
    for (int i = 0; i < 20; i++) reap(children[i]);
    take_here(flake, 1000);
    close_family(flake, 1000 + 20 * 400 + 1000);
}

static void forked(void) {
    family(plain_fork);
}

#ifdef HAS_UNDERSCORE_FORK
static void underscore_forked(void) {
    family(bare_fork);
}
#endif

static void cloned(void) {
    family(raw_clone);
}

/* A child uses, closes and frees what it inherited; its parent continues. */
static void closed_in_a_child(void) {
    for (int uses = 0; uses < 2; uses++) {
        leafid_snowflake *flake = open_family();
        take_here(flake, 100);
        pid_t child = fork();
        if (child == 0) {
            alarm(HANG_S);
            if (uses) work_as_child(flake);
            if (leafid_snowflake_close(flake) != LEAFID_OK) _exit(6);
            int64_t id;
            if (leafid_snowflake_next(flake, &id) != LEAFID_CLOSED) _exit(5);
            leafid_snowflake_free(flake);
            exit(0);
        }
        reap(child);
        ids_receive(&all, pipe_ends[0], uses ? 400 : 100);
        take_here(flake, 100);
        close_family(flake, uses ? 500 : 200);
    }
}

#define GENERATING 3

struct generating {
    pthread_t thread;
    leafid_snowflake *flake;
    int64_t *ids;
    size_t count;
    leafid_status status;
};
static atomic_bool stop;

static void *generate(void *argument) {
    struct generating *me = argument;
    while (!atomic_load(&stop) && me->count < 3000000) {
        me->status = leafid_snowflake_next(me->flake, &me->ids[me->count]);
        if (me->status != LEAFID_OK) break;
        me->count++;
    }
    return NULL;
}

static void while_others_generate(void) {
    static struct generating others[GENERATING];
    leafid_snowflake *flake = open_family();
    size_t total = 0;
    atomic_store(&stop, false);
    for (int i = 0; i < GENERATING; i++) {
        others[i] = (struct generating){.flake = flake, .status = LEAFID_OK};
        others[i].ids = malloc(3000000 * sizeof(int64_t));
        REQUIRE(others[i].ids != NULL);
        REQUIRE(pthread_create(&others[i].thread, NULL, generate, &others[i]) == 0);
    }
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(HANG_S);
            work_as_child(flake);
            _exit(0);
        }
        total += 300;
        ids_receive(&all, pipe_ends[0], total);
        reap(child);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < GENERATING; i++) {
        pthread_join(others[i].thread, NULL);
        CHECK_NUMBER(others[i].status, LEAFID_OK);
        CHECK(others[i].count > 1000);
        ids_add(&all, others[i].ids, others[i].count);
        total += others[i].count;
        free(others[i].ids);
    }
    close_family(flake, total);
}

int main(void) {
    test("fork", forked);
#ifdef HAS_UNDERSCORE_FORK
    test_forks_beside("_Fork", underscore_forked);
#else
    skip("_Fork", "this C library has none");
#endif
    test_forks_beside("raw clone", cloned);
    test("close and free in a child", closed_in_a_child);
    test_forks_beside("fork while other threads generate", while_others_generate);
    return finish();
}
