/* Segments and many threads: close while they wait and while they take, and ends with a fetch under way. */
#define _GNU_SOURCE
#include "counter.h"

#include <dirent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#define THREADS 8

struct taker {
    pthread_t thread;
    leafid_tag *tag;
    int64_t *ids;
    size_t count, wanted;
    leafid_status last;
    int number;
};

static struct taker takers[THREADS];

/* Every fourth thread takes its ids in runs, every fourth one asks without waiting. */
static void *take(void *argument) {
    struct taker *taker = argument;
    while (taker->count < taker->wanted) {
        size_t left = taker->wanted - taker->count, run = taker->number % 4 == 1 ? (left < 7 ? left : 7) : 1;
        int64_t *out = taker->ids + taker->count;
        taker->last = run > 1                   ? leafid_tag_fill(taker->tag, out, run)
                      : taker->number % 4 == 2 ? leafid_tag_try_next(taker->tag, out)
                                               : leafid_tag_next(taker->tag, out);
        if (taker->last == LEAFID_WOULD_BLOCK) {
            pause_ms(1);
            continue;
        }
        if (taker->last != LEAFID_OK) break;
        taker->count += run;
    }
    return NULL;
}

static void start(leafid_tag *tag, size_t wanted) {
    for (int i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){.tag = tag, .wanted = wanted, .number = i, .last = LEAFID_OK};
        takers[i].ids = calloc(wanted, sizeof(int64_t));
        REQUIRE(takers[i].ids != NULL);
        REQUIRE(pthread_create(&takers[i].thread, NULL, take, &takers[i]) == 0);
    }
}

/* Waits for all; no id twice. Answers how many. */
static size_t join(leafid_status expected) {
    struct ids all = {0};
    for (int i = 0; i < THREADS; i++) {
        pthread_join(takers[i].thread, NULL);
        CHECK_NUMBER(takers[i].last, expected);
        ids_add(&all, takers[i].ids, takers[i].count);
        free(takers[i].ids);
    }
    size_t count = all.count;
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    ids_free(&all);
    return count;
}

static void close_wakes(void) {
    struct counter *counter = counter_new();
    leafid_segments_options *options = counter_options(counter);
    leafid_segments *segments;
    atomic_store(&counter->hangs, true);
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, HANG_MS), LEAFID_OK);
    leafid_tag *tag = counter_open(options, &segments);
    start(tag, 10);
    /* All but the two that do not wait. */
    EVENTUALLY(stats_of(tag).waiting == THREADS - 2);
    int64_t begun = now_ms();
    CHECK_STATUS(leafid_segments_close(segments), LEAFID_OK);
    CHECK_NUMBER((int64_t)join(LEAFID_CLOSED), 0);
    CHECK(now_ms() - begun < HANG_MS / 2);
    CHECK_STATUS(leafid_segments_close(segments), LEAFID_OK);
    leafid_tag_free(tag);
    leafid_segments_free(segments);
    atomic_store(&counter->hangs, false);
    counter_end(counter);
}

static void *close_it(void *segments) {
    CHECK_STATUS(leafid_segments_close(segments), LEAFID_OK);
    return NULL;
}

static void closed_in_use(void) {
    size_t rounds = scaled(60);
    for (size_t round = 0; round < rounds; round++) {
        struct counter *counter = counter_new();
        leafid_segments_options *options = counter_options(counter);
        leafid_segments *segments;
        pthread_t closers[2];
        CHECK_STATUS(leafid_segments_options_set_step(options, 50), LEAFID_OK);
        CHECK_STATUS(leafid_segments_options_set_adaptive(options, 0), LEAFID_OK);
        leafid_tag *tag = counter_open(options, &segments);
        start(tag, 1000000);
        pause_ms((int)(round % 5));
        for (int i = 0; i < 2; i++) REQUIRE(pthread_create(&closers[i], NULL, close_it, segments) == 0);
        for (int i = 0; i < 2; i++) pthread_join(closers[i], NULL);
        join(LEAFID_CLOSED);
        leafid_segments_free(segments);
        leafid_tag_free(tag);
        counter_end(counter);
    }
}

#ifndef _WIN32
static int entries(const char *folder) {
    int count = 0;
    DIR *dir = opendir(folder);
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

/* Opened, used and given back in turn: nothing is left of any of them. */
static void many_rounds(void) {
    struct counter *counter = counter_new();
    leafid_segments_options *options = counter_options(counter);
    size_t rounds = scaled(1000);
    int threads = 0, files = 0;
    int64_t last = 0, id = 0;
    for (size_t round = 0; round < rounds; round++) {
        leafid_segments *segments;
        leafid_tag *tag;
        REQUIRE_OK(leafid_segments_open(options, &segments));
        REQUIRE_OK(leafid_segments_tag(segments, "order", &tag));
        REQUIRE_OK(leafid_tag_next(tag, &id));
        REQUIRE(id > last);
        last = id;
        if (round % 2) CHECK_STATUS(leafid_segments_close(segments), LEAFID_OK);
        leafid_segments_free(segments);
        leafid_tag_free(tag);
        if (round == rounds / 10) {
            threads = entries("/proc/self/task");
            files = entries("/proc/self/fd");
        }
    }
    EVENTUALLY(entries("/proc/self/task") <= threads);
    CHECK_NUMBER(entries("/proc/self/fd"), files);
    leafid_segments_options_free(options);
    counter_end(counter);
}

/* A process that ends while the callback is inside: by exit, without closing anything. */
static void exit_in_a_fetch(void) {
    for (int frees = 0; frees < 2; frees++) {
        struct counter *counter = counter_new();
        leafid_segments_options *options = counter_options(counter);
        int64_t begun = now_ms();
        int status = -1;
        atomic_store(&counter->hangs, true);
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            leafid_segments *segments;
            leafid_tag *tag;
            int64_t id;
            alarm(HANG_S);
            if (leafid_segments_open(options, &segments) != LEAFID_OK) _exit(3);
            if (leafid_segments_tag(segments, "order", &tag) != LEAFID_OK) _exit(4);
            if (leafid_tag_next_within(tag, 50, &id) != LEAFID_SEGMENT_UNAVAILABLE) _exit(5);
            while (atomic_load(&counter->calls) == 0) pause_ms(1);
            if (frees) {
                leafid_tag_free(tag);
                leafid_segments_free(segments);
            }
            exit(7);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        CHECK(now_ms() - begun < HANG_MS / 2);
        CHECK_NUMBER(atomic_load(&counter->calls), 1);
        leafid_segments_options_free(options);
        /* The child's copy is still inside. */
        EVENTUALLY(atomic_load(&counter->freed) == 1);
    }
}
#endif

int main(void) {
    test("close wakes those that wait", close_wakes);
    test("segments are closed while all threads take", closed_in_use);
#ifndef _WIN32
    test("1000 rounds of open and close leave nothing", many_rounds);
    if (getenv("LEAFID_TEST_SLOW")) {
        skip("exit with a fetch under way", "it forks, which valgrind is not asked to follow");
    } else {
        test("exit with a fetch under way", exit_in_a_fetch);
    }
#endif
    return finish();
}
