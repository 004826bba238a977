/* Bad options of every kind: an error that names the option, its value and what is allowed. */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <string.h>

/* An option that a setter or open refuses: open says so in every case, with the option's name and value. */
#define REFUSED_WITH(worker, expected, setter, ...) \
    do { \
        leafid_snowflake_options *bad = options_for(fresh_dir(), fresh_name(), worker); \
        leafid_snowflake *opened = NULL; \
        CHECK_REFUSED(leafid_snowflake_options_##setter(bad, __VA_ARGS__), leafid_snowflake_open(bad, &opened), \
                      expected); \
        CHECK(opened == NULL); \
        leafid_snowflake_free(opened); \
        leafid_snowflake_options_free(bad); \
    } while (0)
#define REFUSED(expected, ...) REFUSED_WITH("1", expected, __VA_ARGS__)
/* With lease servers, which are asked for nothing. */
#define REFUSED_OF_SERVERS(expected, ...) REFUSED_WITH("http://127.0.0.1:9,http://127.0.0.1:19", expected, __VA_ARGS__)

static void bad_options_of_servers(void) {
    REFUSED_OF_SERVERS("token is a value that is not shown", set_token, "S3C\377");
    REFUSED_OF_SERVERS("headers is a value that is not shown", add_header, "x-a", "S3C\377");
    REFUSED_OF_SERVERS("request_timeout_ms is -9223372036854775808", set_request_timeout_ms, INT64_MIN);
    REFUSED_OF_SERVERS("connect_timeout_ms is 9223372036854775807", set_connect_timeout_ms, INT64_MAX);
}

static void bad_options(void) {
    REFUSED("worker is 1024", set_worker_id, 1024);
    REFUSED("worker is -1", set_worker_id, -1);
    REFUSED("worker is 9223372036854775807", set_worker_id, INT64_MAX);
    REFUSED("worker is \"\357\277\275\", which is not UTF-8", set_worker, "\377");
    REFUSED("worker is the empty range 5-4", set_worker_range, 5, 4);
    REFUSED("worker is -1-4", set_worker_range, -1, 4);
    REFUSED("worker is 0-1024", set_worker_range, 0, 1024);
    REFUSED("worker is -9223372036854775808-9223372036854775807", set_worker_range, INT64_MIN, INT64_MAX);
    REFUSED("name is \"a\357\277\275\", which is not UTF-8", set_name, "a\377");
    REFUSED("epoch_ms is 4102444800000", set_epoch_ms, INT64_C(4102444800000));
    REFUSED("epoch_ms is 9223372036854775807", set_epoch_ms, INT64_MAX);
    REFUSED("on_clock_backwards is 7", set_on_clock_backwards, 7);
    REFUSED("on_clock_backwards is -1", set_on_clock_backwards, -1);
    REFUSED("max_backwards_ms is 9223372036854775807", set_max_backwards_ms, INT64_MAX);
    REFUSED("on_exhausted is 2", set_on_exhausted, 2);
    REFUSED("random_start is 9223372036854775807", set_random_start, INT64_MAX);
    REFUSED("persist is 2", set_persist, 2);
    REFUSED("persist is -1", set_persist, -1);
    REFUSED("shared_fs is 2", set_shared_fs, 2);
    REFUSED("shared_group is 2", set_shared_group, 2);
    REFUSED("exclusive_range is 2", set_exclusive_range, 2);
    REFUSED("lazy is 2147483647", set_lazy, INT32_MAX);
    REFUSED("clock_source is 2", set_clock_source, 2);
    REFUSED("clock_source is -1", set_clock_source, -1);
    REFUSED("timeout_ms is 9223372036854775807", set_timeout_ms, INT64_MAX);
}

static void first_error_counts(void) {
    leafid_snowflake_options *bad = options_for(fresh_dir(), fresh_name(), "1");
    leafid_snowflake *opened = NULL;
    CHECK_STATUS(leafid_snowflake_options_set_layout(bad, "first"), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_snowflake_options_set_on_exhausted(bad, 99), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_snowflake_options_set_layout(bad, "leaf"), LEAFID_OK);
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(leafid_snowflake_open(bad, &opened), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("layout is \"first\"");
    }
    CHECK(opened == NULL);
    leafid_snowflake_options_free(bad);
}

int main(void) {
    test("options that are refused, by name and value", bad_options);
    test("options of lease servers that are refused, by name and value", bad_options_of_servers);
    test("open reports the first error of a setter", first_error_counts);
    return finish();
}
