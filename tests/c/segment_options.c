/* Bad options of segments: an error that names the option, its value and what is allowed, of the setter and of open. */
#define _GNU_SOURCE
#include "counter.h"

#include <limits.h>
#include <string.h>

enum source { CALLBACK, SERVER, LEAF, FILES, NONE };

/* Options of each kind of source, with a directory and an id space of their own. */
static leafid_segments_options *from(enum source source) {
    leafid_segments_options *options;
    char url[600];
    REQUIRE_OK(leafid_segments_options_new(&options));
    CHECK_STATUS(leafid_segments_options_set_name(options, fresh_name()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_state_dir(options, fresh_dir()), LEAFID_OK);
    if (source == CALLBACK) {
        CHECK_STATUS(leafid_segments_options_set_fetch(options, counter_fetch, NULL, NULL), LEAFID_OK);
    } else if (source == SERVER || source == LEAF) {
        CHECK_STATUS(leafid_segments_options_add_server(options, "http://127.0.0.1:9"), LEAFID_OK);
        if (source == SERVER) {
            CHECK_STATUS(leafid_segments_options_set_protocol(options, LEAFID_PROTOCOL_RANGE), LEAFID_OK);
        }
    } else if (source == FILES) {
        snprintf(url, sizeof url, "file:%s/counters", fresh_dir());
        CHECK_STATUS(leafid_segments_options_add_server(options, url), LEAFID_OK);
        CHECK_STATUS(leafid_segments_options_set_create(options, 1), LEAFID_OK);
    }
    return options;
}

/* An option that a setter or open refuses: open says so in every case, with the option's name and value. */
#define REFUSED(source, expected, set) \
    do { \
        leafid_segments_options *bad = from(source); \
        leafid_segments *opened = NULL; \
        CHECK_REFUSED(set, leafid_segments_open(bad, &opened), expected); \
        CHECK(opened == NULL); \
        leafid_segments_free(opened); \
        leafid_segments_options_free(bad); \
    } while (0)
#define SET(setter, ...) leafid_segments_options_##setter(bad, __VA_ARGS__)

static leafid_status prewarm_many(leafid_segments_options *bad) {
    leafid_status status = LEAFID_OK;
    for (int i = 0; i < 1001 && status == LEAFID_OK; i++) {
        char tag[16];
        snprintf(tag, sizeof tag, "t%d", i);
        status = leafid_segments_options_add_prewarm(bad, tag);
    }
    return status;
}

static void bad_options(void) {
    REFUSED(NONE, "servers is not set, nor is fetch", SET(set_adaptive, 1));
    REFUSED(SERVER, "servers is \"http://\357\277\275\", which is not UTF-8", SET(add_server, "http://\377"));
    REFUSED(SERVER, "protocol is 4", SET(set_protocol, 4));
    REFUSED(SERVER, "protocol is -1", SET(set_protocol, -1));
    REFUSED(CALLBACK, "step is -9223372036854775808", SET(set_step, INT64_MIN));
    REFUSED(CALLBACK, "adaptive is 2", SET(set_adaptive, 2));
    REFUSED(CALLBACK, "prefetch is 9223372036854775807", SET(set_prefetch, INT64_MAX));
    REFUSED(CALLBACK, "timeout_ms is 9223372036854775807", SET(set_timeout_ms, INT64_MAX));
    REFUSED(SERVER, "connections is 9223372036854775807", SET(set_connections, INT64_MAX));
    REFUSED(SERVER, "token is a value that is not shown", SET(set_token, "S3C\377"));
    REFUSED(CALLBACK, "persist is 2", SET(set_persist, 2));
    REFUSED(CALLBACK, "shared_fs is -1", SET(set_shared_fs, -1));
    REFUSED(CALLBACK, "shared_group is -1", SET(set_shared_group, -1));
    REFUSED(FILES, "create is 2", SET(set_create, 2));
    REFUSED(FILES, "the start of the tag \"order\" is -1", SET(add_file_tag, "order", -1, 1));
    REFUSED(FILES, "the start of the tag \"order\" is 9223372036854775807", SET(add_file_tag, "order", INT64_MAX, 1));
    REFUSED(FILES, "the step of the tag \"order\" is 0", SET(add_file_tag, "order", 1, 0));
    REFUSED(FILES, "tag is \"a\\nb\"", SET(add_file_tag, "a\nb", 1, 1));
    REFUSED(CALLBACK, "prewarm is 1001 tags", prewarm_many(bad));
    REFUSED(CALLBACK, "prewarm_last_day is 2", SET(set_prewarm_last_day, 2));
    REFUSED(CALLBACK, "keep_unused is 2", SET(set_keep_unused, 2));
    REFUSED(CALLBACK, "ordered_source is 2", SET(set_ordered_source, 2));
    REFUSED(LEAF, "block_size is -9223372036854775808", SET(set_block_size, INT64_MIN));
}

static void first_error_counts(void) {
    leafid_segments_options *bad = from(CALLBACK);
    leafid_segments *opened = NULL;
    CHECK_STATUS(leafid_segments_options_set_adaptive(bad, 7), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_segments_options_set_protocol(bad, 99), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_segments_options_set_adaptive(bad, 1), LEAFID_OK);
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(leafid_segments_open(bad, &opened), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("adaptive is 7");
    }
    CHECK(opened == NULL);
    leafid_segments_options_free(bad);
}

/* A directory of counters: two openings share it, and it continues where it was. */
static void directory(void) {
    leafid_segments_options *options = from(FILES);
    leafid_segments *first, *second;
    leafid_tag *a, *b;
    int64_t id = -1;
    char source[700];
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, PATIENT_MS), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_file_tag(options, "order", 500, 10), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_file_tag(options, "invoice", 1, 10), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &first));
    REQUIRE_OK(leafid_segments_open(options, &second));
    leafid_segments_options_free(options);
    REQUIRE_OK(leafid_segments_tag(first, "order", &a));
    REQUIRE_OK(leafid_segments_tag(second, "order", &b));
    CHECK_STATUS(leafid_tag_next(a, &id), LEAFID_OK);
    CHECK_NUMBER(id, 500);
    CHECK_STATUS(leafid_tag_next(b, &id), LEAFID_OK);
    CHECK_NUMBER(id, 510);
    CHECK_STATUS(leafid_segments_source(first, source, sizeof source, NULL), LEAFID_OK);
    leafid_tag_free(b);
    REQUIRE_OK(leafid_segments_tag(second, "nobody's", &b));
    CHECK_STATUS(leafid_tag_next(b, &id), LEAFID_UNKNOWN_TAG);
    CHECK_SAYS("nobody's");
    CHECK_NUMBER(id, 510);
    leafid_tag_free(a);
    leafid_tag_free(b);
    leafid_segments_free(first);
    leafid_segments_free(second);
    /* Not made by accident. */
    options = from(FILES);
    CHECK_STATUS(leafid_segments_options_set_create(options, 0), LEAFID_OK);
    CHECK_STATUS(leafid_segments_open(options, &first), LEAFID_UNKNOWN_TAG);
    leafid_segments_options_free(options);
}

int main(void) {
    test("options of segments that are refused, by name and value", bad_options);
    test("segments: open reports the first error of a setter", first_error_counts);
    test("segments from a directory", directory);
    return finish();
}
