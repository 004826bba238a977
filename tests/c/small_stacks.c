/* Threads with the smallest stacks: ids come, and what needs more than there is is refused instead of a crash. */
#define _GNU_SOURCE
#include "counter.h"

#include <alloca.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

/* The least that pthread_attr_setstacksize takes here. */
#define SMALLEST (16 * 1024)

static leafid_snowflake *flake;
static leafid_segments *segments;
static leafid_tag *tag;
static struct counter *counter;
static char dir[512], name[64];

static void open_all(void) {
    snprintf(name, sizeof name, "%s", fresh_name());
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    leafid_snowflake_options *options = options_for(dir, name, "7");
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);
    counter = counter_new();
    leafid_segments_options *of_segments = counter_options(counter);
    CHECK_STATUS(leafid_segments_options_set_step(of_segments, 10), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_adaptive(of_segments, 0), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(of_segments, &segments));
    leafid_segments_options_free(of_segments);
    REQUIRE_OK(leafid_segments_tag(segments, "order", &tag));
}

static void close_all(void) {
    leafid_tag_free(tag);
    leafid_segments_free(segments);
    leafid_snowflake_free(flake);
    counter_end(counter);
}

static void on_a_stack(size_t bytes, void *(*run)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
    REQUIRE(pthread_create(&thread, &attributes, run, NULL) == 0);
    pthread_attr_destroy(&attributes);
    pthread_join(thread, NULL);
}

/* The first ids, for which threads are begun; a batch; and so many that spans and segments are renewed. */
static void *take(void *unused) {
    int64_t id, last = 0, few[20];
    (void)unused;
    if (leafid_snowflake_next(flake, &last) != LEAFID_OK) return NULL;
    int64_t until = now_ms() + 1200;
    while (now_ms() < until) {
        if (!CHECK(leafid_snowflake_next(flake, &id) == LEAFID_OK && id > last)) return NULL;
        last = id;
    }
    CHECK(leafid_snowflake_fill(flake, few, 20) == LEAFID_OK && few[0] > last && few[19] > few[0]);
    last = 0;
    for (int i = 0; i < 100; i++) {
        if (!CHECK(leafid_tag_next(tag, &id) == LEAFID_OK && id > last)) return NULL;
        last = id;
    }
    CHECK(leafid_tag_fill(tag, few, 20) == LEAFID_OK && few[0] > last && few[19] > few[0]);
    return NULL;
}

static void smallest(void) {
    open_all();
    on_a_stack(SMALLEST, take);
    close_all();
}

static void *open_another(void *unused) {
    leafid_snowflake *other = NULL;
    leafid_segments *others = NULL;
    char text[400];
    (void)unused;
    leafid_snowflake_options *options;
    leafid_segments_options *of_segments;
    CHECK(leafid_snowflake_options_new(&options) == LEAFID_OK);
    CHECK(leafid_snowflake_options_set_state_dir(options, dir) == LEAFID_OK);
    CHECK(leafid_snowflake_options_set_name(options, name) == LEAFID_OK);
    CHECK(leafid_snowflake_options_set_worker(options, "8") == LEAFID_OK);
    CHECK(leafid_snowflake_open(options, &other) == LEAFID_STATE_IO);
    leafid_last_error(text, sizeof text);
    CHECK(strstr(text, "bytes of stack left, and the call needs") != NULL);
    leafid_snowflake_options_free(options);
    CHECK(leafid_segments_options_new(&of_segments) == LEAFID_OK);
    CHECK(leafid_segments_options_set_state_dir(of_segments, dir) == LEAFID_OK);
    CHECK(leafid_segments_options_set_fetch(of_segments, counter_fetch, counter, NULL) == LEAFID_OK);
    CHECK(leafid_segments_open(of_segments, &others) == LEAFID_STATE_IO);
    leafid_segments_options_free(of_segments);
    CHECK(other == NULL && others == NULL);
    return NULL;
}

static void opening(void) {
    open_all();
    on_a_stack(SMALLEST, open_another);
    close_all();
}

/* With so little left that to ask for a segment would be a crash. */
static void *deep(void *unused) {
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    int64_t id;
    (void)unused;
    if (!CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0)) return NULL;
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    CHECK(leafid_snowflake_next(flake, &id) == LEAFID_OK);
    size_t left = (size_t)((char *)__builtin_frame_address(0) - (char *)low);
    volatile char *used = alloca(left - 7 * 1024);
    used[0] = 1;
    CHECK(leafid_snowflake_next(flake, &id) == LEAFID_OK);
    leafid_status status;
    int taken = 0;
    while ((status = leafid_tag_next(tag, &id)) == LEAFID_OK && taken < 100) taken++;
    CHECK(status == LEAFID_STATE_IO && taken <= 20);
    return NULL;
}

static void left_over(void) {
    int64_t id;
    open_all();
    REQUIRE_OK(leafid_tag_next(tag, &id));
    on_a_stack(128 * 1024, deep);
    for (int i = 0; i < 100; i++) REQUIRE_OK(leafid_tag_next(tag, &id));
    close_all();
}

/* Sanitizers need more stack than these tests give. */
static void test_unwatched(const char *name, void (*run)(void)) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)run;
    skip(name, "sanitizers need more stack");
#else
    test(name, run);
#endif
}

int main(void) {
    test_unwatched("ids on a stack of 16 KiB", smallest);
    test_unwatched("an opening on a stack of 16 KiB is refused", opening);
    test_unwatched("7 KiB of stack left: ids at hand, and no crash", left_over);
    return finish();
}
