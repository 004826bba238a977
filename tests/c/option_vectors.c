/* tests/vectors/options.json: which values of options and of the environment are refused, as in every language. */
#define _GNU_SOURCE
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "option_variables.inc"

/* What opening said. */
static void check_opening(leafid_status status, bool right, const char *begins) {
    char said[1024] = "";
    CHECK_STATUS(status, right ? LEAFID_OK : LEAFID_INVALID_ARGUMENT);
    if (right) return;
    leafid_last_error(said, sizeof said);
    CHECK(strstr(said, begins) != NULL);
    CHECK(strstr(said, "; allowed: ") != NULL);
}

/* Claims nothing. */
static void open_lazily(leafid_snowflake_options *options, bool right, const char *begins) {
    leafid_snowflake *opened = NULL;
    CHECK_STATUS(leafid_snowflake_options_set_lazy(options, 1), LEAFID_OK);
    check_opening(leafid_snowflake_open(options, &opened), right, begins);
    leafid_snowflake_free(opened);
    leafid_snowflake_options_free(options);
}

#define SNOWFLAKE(begins, worker, right, setter, value) \
    do { \
        leafid_snowflake_options *options = options_for(dir, name, worker); \
        leafid_snowflake_options_##setter(options, value); \
        open_lazily(options, right, begins); \
    } while (0)
#define SEGMENTS_FROM(server, begins, right, setter, value) \
    do { \
        leafid_segments_options *options; \
        leafid_segments *opened = NULL; \
        REQUIRE_OK(leafid_segments_options_new(&options)); \
        CHECK_STATUS(leafid_segments_options_set_name(options, name), LEAFID_OK); \
        CHECK_STATUS(leafid_segments_options_set_state_dir(options, dir), LEAFID_OK); \
        if (server) CHECK_STATUS(leafid_segments_options_add_server(options, server), LEAFID_OK); \
        leafid_segments_options_##setter(options, value); \
        check_opening(leafid_segments_open(options, &opened), right, begins); \
        leafid_segments_free(opened); \
        leafid_segments_options_free(options); \
    } while (0)
#define SEGMENTS(begins, worker, right, setter, value) \
    SEGMENTS_FROM("http://127.0.0.1:1", begins, right, setter, value)
#define SEGMENTS_OF_NO_SERVER(begins, worker, right, setter, value) \
    SEGMENTS_FROM((const char *)NULL, begins, right, setter, value)

static void every_option(void) {
    const char *dir = fresh_dir(), *name = fresh_name();
#include "option_calls.inc"
}

static void every_variable(void) {
    const char *dir = fresh_dir(), *name = fresh_name();
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        bool is_worker = strcmp(variables[i].name, "LEAFID_WORKER") == 0;
        bool is_dir = strcmp(variables[i].name, "LEAFID_STATE_DIR") == 0;
        char begins[64];
        leafid_snowflake_options *options;
        snprintf(begins, sizeof begins, "%s is ", variables[i].name);
        REQUIRE_OK(leafid_snowflake_options_new(&options));
        CHECK_STATUS(leafid_snowflake_options_set_name(options, name), LEAFID_OK);
        if (!is_dir) CHECK_STATUS(leafid_snowflake_options_set_state_dir(options, dir), LEAFID_OK);
        if (!is_worker) CHECK_STATUS(leafid_snowflake_options_set_worker(options, "7"), LEAFID_OK);
        set_env(variables[i].name, variables[i].value);
        open_lazily(options, variables[i].right, begins);
        set_env(variables[i].name, NULL);
    }
}

int main(void) {
    test("every option takes and refuses what the vector says", every_option);
    test("every variable takes and refuses what the vector says", every_variable);
    return finish();
}
