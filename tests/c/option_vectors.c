/* tests/vectors/options.json: which values of options and of the environment are refused, as in every language; and
   values that only C has. */
#define _GNU_SOURCE
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "option_variables.inc"

/* Lazily: claims nothing. */
static leafid_snowflake_options *lazily(const char *dir, const char *name, const char *worker) {
    leafid_snowflake_options *options = options_for(dir, name, worker);
    CHECK_STATUS(leafid_snowflake_options_set_lazy(options, 1), LEAFID_OK);
    return options;
}

static leafid_segments_options *from_server(const char *dir, const char *name, const char *server) {
    leafid_segments_options *options;
    REQUIRE_OK(leafid_segments_options_new(&options));
    CHECK_STATUS(leafid_segments_options_set_name(options, name), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_state_dir(options, dir), LEAFID_OK);
    if (server) CHECK_STATUS(leafid_segments_options_add_server(options, server), LEAFID_OK);
    return options;
}

static leafid_status open_snowflake(leafid_snowflake_options *options) {
    leafid_snowflake *opened = NULL;
    leafid_status status = leafid_snowflake_open(options, &opened);
    CHECK((opened != NULL) == (status == LEAFID_OK));
    if (opened) leafid_snowflake_free(opened);
    return status;
}

static leafid_status open_segments(leafid_segments_options *options) {
    leafid_segments *opened = NULL;
    leafid_status status = leafid_segments_open(options, &opened);
    CHECK((opened != NULL) == (status == LEAFID_OK));
    if (opened) leafid_segments_free(opened);
    return status;
}

#define TRY(right, said, setting, opening) \
    do { \
        if (right) { \
            CHECK_STATUS(setting, LEAFID_OK); \
            CHECK_STATUS(opening, LEAFID_OK); \
        } else { \
            CHECK_REFUSED(setting, opening, said); \
        } \
    } while (0)
#define SNOWFLAKE(said, worker, right, setter, ...) \
    do { \
        leafid_snowflake_options *options = lazily(dir, name, worker); \
        TRY(right, said, leafid_snowflake_options_##setter(options, __VA_ARGS__), open_snowflake(options)); \
        leafid_snowflake_options_free(options); \
    } while (0)
#define SEGMENTS_FROM(server, said, right, setter, ...) \
    do { \
        leafid_segments_options *options = from_server(dir, name, server); \
        TRY(right, said, leafid_segments_options_##setter(options, __VA_ARGS__), open_segments(options)); \
        leafid_segments_options_free(options); \
    } while (0)
#define SEGMENTS(said, worker, right, ...) SEGMENTS_FROM("http://127.0.0.1:1", said, right, __VA_ARGS__)
#define SEGMENTS_OF_NO_SERVER(said, worker, right, ...) SEGMENTS_FROM(NULL, said, right, __VA_ARGS__)

static void every_option(void) {
    const char *dir = fresh_dir(), *name = fresh_name();
#include "option_calls.inc"
}

/* Of setters that take no single value. */
static void values_of_c(void) {
    const char *dir = fresh_dir(), *name = fresh_name(), *servers = "http://127.0.0.1:9,http://127.0.0.1:19";
    SNOWFLAKE("worker is the empty range 5-4", "7", false, set_worker_range, 5, 4);
    SNOWFLAKE("worker is -1-4", "7", false, set_worker_range, -1, 4);
    SNOWFLAKE("worker is 0-1024", "7", false, set_worker_range, 0, 1024);
    SNOWFLAKE("worker is -9223372036854775808-9223372036854775807", "7", false, set_worker_range, INT64_MIN, INT64_MAX);
    SNOWFLAKE("headers is a value that is not shown", servers, false, add_header, "x-a", "S3C\377");
    SEGMENTS("headers is a value that is not shown", NULL, false, add_header, "x-a", "S3C\377");
    SEGMENTS("servers is \"http://\357\277\275\", which is not UTF-8", NULL, false, add_server, "http://\377");
    SEGMENTS("prewarm_last_day is 2", NULL, false, set_prewarm_last_day, 2);
}

static void every_variable(void) {
    const char *dir = fresh_dir(), *name = fresh_name();
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        bool is_worker = strcmp(variables[i].variable, "LEAFID_WORKER") == 0;
        bool is_dir = strcmp(variables[i].variable, "LEAFID_STATE_DIR") == 0;
        char said[64];
        leafid_snowflake_options *options;
#ifdef _WIN32
        /* There are no empty variables. */
        if (*variables[i].value == 0) continue;
#endif
        snprintf(said, sizeof said, "%s is ", variables[i].variable);
        REQUIRE_OK(leafid_snowflake_options_new(&options));
        CHECK_STATUS(leafid_snowflake_options_set_name(options, name), LEAFID_OK);
        if (!is_dir) CHECK_STATUS(leafid_snowflake_options_set_state_dir(options, dir), LEAFID_OK);
        if (!is_worker) CHECK_STATUS(leafid_snowflake_options_set_worker(options, "7"), LEAFID_OK);
        set_env(variables[i].variable, variables[i].value);
        TRY(variables[i].right, said, leafid_snowflake_options_set_lazy(options, 1), open_snowflake(options));
        set_env(variables[i].variable, NULL);
        leafid_snowflake_options_free(options);
    }
}

static void first_error_counts(void) {
    leafid_snowflake_options *bad = options_for(fresh_dir(), fresh_name(), "1");
    CHECK_STATUS(leafid_snowflake_options_set_layout(bad, "first"), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_snowflake_options_set_on_exhausted(bad, 99), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_snowflake_options_set_layout(bad, "leaf"), LEAFID_OK);
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(open_snowflake(bad), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("layout is \"first\"");
    }
    leafid_snowflake_options_free(bad);
}

static void first_error_of_segments_counts(void) {
    leafid_segments_options *bad = from_server(fresh_dir(), fresh_name(), "http://127.0.0.1:1");
    CHECK_STATUS(leafid_segments_options_set_adaptive(bad, 7), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_segments_options_set_protocol(bad, 99), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_segments_options_set_adaptive(bad, 1), LEAFID_OK);
    for (int again = 0; again < 2; again++) {
        CHECK_STATUS(open_segments(bad), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS("adaptive is 7");
    }
    leafid_segments_options_free(bad);
}

int main(void) {
    test("every option takes and refuses what the vector says", every_option);
    test("what only C has is refused", values_of_c);
    test("every variable takes and refuses what the vector says", every_variable);
    test("open reports the first error of a setter", first_error_counts);
    test("segments: open reports the first error of a setter", first_error_of_segments_counts);
    return finish();
}
