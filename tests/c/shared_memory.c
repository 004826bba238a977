/* Children of vfork, which share the memory of their parent: they take what is at hand, and end nothing of it. */
#define _GNU_SOURCE
#include "counter.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static leafid_snowflake *flake;
static leafid_segments *segments;
static leafid_tag *tag;
static struct counter *counter;
static struct ids all;
static leafid_status refused, closed;
static char text[600];

/* In the child: in memory that its parent has, too. */
__attribute__((noinline)) static void take_all(void) {
    int64_t id;
    int64_t until = now_ms() + 60000;
    while ((refused = tag ? leafid_tag_next(tag, &id) : leafid_snowflake_next(flake, &id)) == LEAFID_OK) {
        if (now_ms() > until) break;
        ids_add(&all, &id, 1);
    }
    leafid_last_error(text, sizeof text);
    closed = tag ? leafid_segments_close(segments) : leafid_snowflake_close(flake);
}

/* Ends the threads, as a fork does: who needs one next begins it. */
static void end_threads(void) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(0);
    reap(child);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void in_a_child(void) {
    pid_t child = vfork();
    if (child == 0) {
        take_all();
        _exit(0);
    }
    reap(child);
}
#pragma GCC diagnostic pop

static void was_refused(int64_t begun) {
    CHECK_NUMBER(refused, LEAFID_STATE_IO);
    CHECK_NUMBER(closed, LEAFID_STATE_IO);
    CHECK(strstr(text, "vfork") != NULL);
    CHECK(now_ms() - begun < HANG_MS / 2);
}

static void of_segments(void) {
    counter = counter_new();
    leafid_segments_options *options = counter_options(counter);
    CHECK_STATUS(leafid_segments_options_set_step(options, 10), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_adaptive(options, 0), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, HANG_MS), LEAFID_OK);
    tag = counter_open(options, &segments);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 55; i++) {
            int64_t id;
            REQUIRE_OK(leafid_tag_next(tag, &id));
            ids_add(&all, &id, 1);
        }
        end_threads();
        int64_t begun = now_ms();
        in_a_child();
        was_refused(begun);
    }
    CHECK(all.count > 3 * 55);
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    leafid_tag_free(tag);
    tag = NULL;
    leafid_segments_free(segments);
    counter_end(counter);
}

static void of_a_snowflake(void) {
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), "7");
    leafid_snowflake_stats_t stats;
    int64_t id;
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);
    /* A first span is over soon. */
    EVENTUALLY(leafid_snowflake_next(flake, &id) == LEAFID_OK &&
               leafid_snowflake_stats(flake, &stats, sizeof stats) == LEAFID_OK &&
               stats.reserved_until_ms > now_ms() + 2000);
    end_threads();
    ids_free(&all);
    int64_t begun = now_ms();
    in_a_child();
    was_refused(begun);
    REQUIRE(all.count > 100);
    int64_t until = now_ms() + 1200, last = all.items[all.count - 1];
    while (now_ms() < until) {
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        if (!CHECK(id > last)) break;
        last = id;
    }
    REQUIRE_OK(leafid_snowflake_close(flake));
    leafid_snowflake_free(flake);
    ids_free(&all);
}

int main(void) {
    test("a child of vfork takes ids of segments, and its parent goes on", of_segments);
    test("a child of vfork takes ids of a snowflake, and its parent goes on", of_a_snowflake);
    return finish();
}
