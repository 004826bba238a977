/* Forks and segments: a child issues nothing of what its parent had at hand, it fetches its own; no relative hangs. */
#define _GNU_SOURCE
#include "counter.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Every process writes its ids here, in pieces that a pipe takes whole. */
static int pipe_ends[2];
static struct ids all;

static struct counter *counter;
static leafid_segments *segments;
static leafid_tag *tag;

static void open_family(void) {
    counter = counter_new();
    leafid_segments_options *options = counter_options(counter);
    CHECK_STATUS(leafid_segments_options_set_step(options, 100), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_adaptive(options, 0), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, HANG_MS), LEAFID_OK);
    tag = counter_open(options, &segments);
    REQUIRE(pipe(pipe_ends) == 0);
    ids_free(&all);
}

static void close_family(size_t expected) {
    CHECK_NUMBER((int64_t)all.count, (int64_t)expected);
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    leafid_tag_free(tag);
    leafid_segments_free(segments);
    counter_end(counter);
}

static void take_here(size_t count) {
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        REQUIRE_OK(leafid_tag_next(tag, &id));
        ids_add(&all, &id, 1);
    }
}

/* In a child: 64 ids, one by one and in a run. */
static void work_as_child(void) {
    int64_t ids[64];
    leafid_status status = LEAFID_OK;
    for (int i = 0; i < 44 && status == LEAFID_OK; i++) status = leafid_tag_next(tag, &ids[i]);
    if (status == LEAFID_OK) status = leafid_tag_fill(tag, ids + 44, 20);
    end_unless_ok(status);
    if (write(pipe_ends[1], ids, sizeof ids) != sizeof ids) _exit(9);
}

/* Children that live at the same time as their parent and each other, some of which close, free or just exit. */
static void children(void) {
    pid_t child[12];
    open_family();
    take_here(50);
    for (int i = 0; i < 12; i++) {
        fflush(NULL);
        child[i] = fork();
        REQUIRE(child[i] >= 0);
        if (child[i] == 0) {
            alarm(HANG_S);
            work_as_child();
            if (i % 3 == 0) exit(0);
            if (i % 3 == 1 && leafid_segments_close(segments) != LEAFID_OK) _exit(8);
            leafid_tag_free(tag);
            leafid_segments_free(segments);
            _exit(0);
        }
        take_here(30);
    }
    ids_receive(&all, pipe_ends[0], 50 + 12 * 94);
    for (int i = 0; i < 12; i++) reap(child[i]);
    take_here(300);
    close_family(50 + 12 * 94 + 300);
}

/* Nothing of the parent is closed by a child that closes what it never used. */
static void closed_in_a_child(void) {
    open_family();
    take_here(10);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int64_t id;
        alarm(HANG_S);
        if (leafid_segments_close(segments) != LEAFID_OK) _exit(6);
        if (leafid_tag_next(tag, &id) != LEAFID_CLOSED) _exit(5);
        leafid_tag_free(tag);
        leafid_segments_free(segments);
        exit(0);
    }
    reap(child);
    take_here(300);
    close_family(310);
}

static void *next_of_parent(void *out) {
    CHECK_STATUS(leafid_tag_next(tag, out), LEAFID_OK);
    return NULL;
}

/* The parent has a callback inside and a thread that waits for it. */
static void while_a_call_waits(void) {
    for (int children_use_it = 0; children_use_it < 2; children_use_it++) {
        pthread_t waiter;
        int64_t id = -1;
        open_family();
        atomic_store(&counter->hangs, true);
        REQUIRE(pthread_create(&waiter, NULL, next_of_parent, &id) == 0);
        EVENTUALLY(atomic_load(&counter->inside) == 1 && stats_of(tag).waiting == 1);
        fflush(NULL);
        int64_t begun = now_ms();
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(HANG_S);
            if (!children_use_it) exit(0);
            /* The memory of the counter is shared: what hung the parent is over for the child too. */
            atomic_store(&counter->hangs, false);
            work_as_child();
            leafid_tag_free(tag);
            leafid_segments_free(segments);
            exit(0);
        }
        CHECK(now_ms() - begun < HANG_MS / 2);
        reap(child);
        atomic_store(&counter->hangs, false);
        pthread_join(waiter, NULL);
        ids_add(&all, &id, 1);
        ids_receive(&all, pipe_ends[0], children_use_it ? 65 : 1);
        take_here(300);
        close_family(children_use_it ? 365 : 301);
    }
}

/* As a program that makes its processes by hand: the C library, and leafid's handler, know nothing of it. No thread can
   be had there; what was at hand is the parent's all the same. */
static void cloned(void) {
    open_family();
    take_here(10);
    fflush(NULL);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    REQUIRE(child >= 0);
    if (child == 0) {
        int64_t id = -1;
        alarm(HANG_S);
        leafid_status status = leafid_tag_next_within(tag, 500, &id);
        _exit(status == LEAFID_STATE_IO ? 0 : 100 + (int)status);
    }
    reap(child);
    take_here(300);
    close_family(310);
}

int main(void) {
    test("children fetch segments of their own", children);
    test("segments closed in a child that never used them", closed_in_a_child);
    test("fork while a call waits and the callback is inside", while_a_call_waits);
    test_forks_beside("a raw clone issues nothing of its parent", cloned);
    return finish();
}
