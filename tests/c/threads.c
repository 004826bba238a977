/* One generator for all threads, and close while they are at work. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define THREADS 8
#define MOST 60000

struct maker {
    pthread_t thread;
    leafid_snowflake *flake;
    int64_t *ids;
    size_t count, wanted;
    leafid_status last;
    int number;
};

static struct maker makers[THREADS];
static atomic_int running;

/* Every other thread takes its ids in runs. */
static void *make(void *argument) {
    struct maker *maker = argument;
    atomic_fetch_add(&running, 1);
    while (maker->count < maker->wanted) {
        size_t left = maker->wanted - maker->count, run = maker->number % 2 ? (left < 100 ? left : 100) : 1;
        int64_t *out = maker->ids + maker->count;
        maker->last = run == 1 ? leafid_snowflake_next(maker->flake, out)
                               : leafid_snowflake_fill(maker->flake, out, run);
        if (maker->last != LEAFID_OK) break;
        maker->count += run;
    }
    return NULL;
}

static void start(leafid_snowflake *flake, size_t wanted) {
    atomic_store(&running, 0);
    for (int i = 0; i < THREADS; i++) {
        makers[i] = (struct maker){.flake = flake, .wanted = wanted, .number = i, .last = LEAFID_OK};
        makers[i].ids = calloc(wanted, sizeof(int64_t));
        REQUIRE(makers[i].ids != NULL);
        REQUIRE(pthread_create(&makers[i].thread, NULL, make, &makers[i]) == 0);
    }
}

/* Waits for all; their ids, of which each thread's increase. */
static void join(struct ids *all) {
    for (int i = 0; i < THREADS; i++) {
        pthread_join(makers[i].thread, NULL);
        bool sorted = true;
        for (size_t k = 1; k < makers[i].count; k++) sorted = sorted && makers[i].ids[k] > makers[i].ids[k - 1];
        CHECK(sorted);
        ids_add(all, makers[i].ids, makers[i].count);
        free(makers[i].ids);
    }
}

static void no_duplicates(void) {
    leafid_snowflake *flake;
    struct ids all = {0};
    size_t wanted = scaled(MOST);
    REQUIRE_OK(open_flake(fresh_dir(), fresh_name(), "3", &flake));
    start(flake, wanted);
    join(&all);
    for (int i = 0; i < THREADS; i++) CHECK_NUMBER(makers[i].last, LEAFID_OK);
    CHECK_NUMBER((int64_t)all.count, (int64_t)(wanted * THREADS));
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    ids_free(&all);
    leafid_snowflake_free(flake);
}

static void close_meanwhile(void) {
    char name[64], dir[512];
    int64_t highest = -1;
    struct ids all = {0};
    snprintf(name, sizeof name, "%s", fresh_name());
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    for (size_t round = 0; round < scaled(20); round++) {
        leafid_snowflake *flake;
        int64_t id;
        REQUIRE_OK(open_flake(dir, name, "3", &flake));
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        CHECK(id > highest);
        ids_add(&all, &id, 1);
        /* More than they can make until the close: 4096 a millisecond is the most. */
        start(flake, 2000000);
        while (atomic_load(&running) < THREADS) pause_ms(1);
        pause_ms((int)(round % 7));
        CHECK_STATUS(leafid_snowflake_close(flake), LEAFID_OK);
        /* The next holder, while the threads may still be on their way out. */
        leafid_snowflake *next;
        REQUIRE_OK(open_flake(dir, name, "3", &next));
        REQUIRE_OK(leafid_snowflake_next(next, &id));
        ids_add(&all, &id, 1);
        join(&all);
        for (int i = 0; i < THREADS; i++) CHECK_NUMBER(makers[i].last, LEAFID_CLOSED);
        CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
        /* Sorted now: the next holder's is above all. */
        CHECK_NUMBER(all.items[all.count - 1], id);
        highest = id;
        leafid_snowflake_free(flake);
        leafid_snowflake_free(next);
    }
    ids_free(&all);
}

static atomic_bool stop;
static void *open_and_close(void *argument) {
    const leafid_snowflake_options *options = argument;
    int64_t last = -1, id;
    while (!atomic_load(&stop)) {
        leafid_snowflake *flake;
        if (!CHECK_STATUS(leafid_snowflake_open(options, &flake), LEAFID_OK)) break;
        if (CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK)) CHECK(id != last);
        last = id;
        CHECK_STATUS(leafid_snowflake_close(flake), LEAFID_OK);
        leafid_snowflake_free(flake);
    }
    return NULL;
}

/* Openers of the same settings meet the closing of the last handle: they wait for it, none is refused. */
static void open_meets_close(void) {
    pthread_t threads[4];
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "0-1");
    atomic_store(&stop, false);
    for (int i = 0; i < 4; i++) REQUIRE(pthread_create(&threads[i], NULL, open_and_close, options) == 0);
    pause_ms(500);
    atomic_store(&stop, true);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    leafid_snowflake_options_free(options);
}

int main(void) {
    test("8 threads, no duplicates, each thread's increase", no_duplicates);
    test("close while 8 threads are at work: closed, and the next holder starts above", close_meanwhile);
    test("opening and closing in 4 threads at once", open_meets_close);
    return finish();
}
