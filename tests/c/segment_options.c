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

static void refused_by_open(enum source source, const char *expected,
                            leafid_status (*set)(leafid_segments_options *)) {
    leafid_segments_options *bad = from(source);
    leafid_segments *opened = NULL;
    leafid_status first = set(bad);
    char setter_text[1024] = "", open_text[1024];
    if (first != LEAFID_OK) leafid_last_error(setter_text, sizeof setter_text);
    CHECK(first == LEAFID_OK || first == LEAFID_INVALID_ARGUMENT);
    if (!CHECK_STATUS(leafid_segments_open(bad, &opened), LEAFID_INVALID_ARGUMENT)) {
        fprintf(stderr, "  for %s\n", expected);
        leafid_segments_free(opened);
    }
    CHECK(opened == NULL);
    leafid_last_error(open_text, sizeof open_text);
    if (first != LEAFID_OK) CHECK(strcmp(open_text, setter_text) == 0);
    CHECK_SAYS(expected);
    CHECK_SAYS("; allowed: ");
    leafid_segments_options_free(bad);
}

#define OPTION(function, setter, ...) \
    static leafid_status function(leafid_segments_options *bad) { \
        return leafid_segments_options_##setter(bad, __VA_ARGS__); \
    }
OPTION(server_empty, add_server, "")
OPTION(server_word, add_server, "leaf-1")
OPTION(server_ftp, add_server, "ftp://leaf-1")
OPTION(server_file_too, add_server, "file:/tmp")
OPTION(server_not_utf8, add_server, "http://\377")
OPTION(protocol_4, set_protocol, 4)
OPTION(protocol_negative, set_protocol, -1)
OPTION(protocol_for_servers, set_protocol, LEAFID_PROTOCOL_RANGE)
OPTION(step_0, set_step, 0)
OPTION(step_million, set_step, 1000001)
OPTION(step_min, set_step, INT64_MIN)
OPTION(adaptive_2, set_adaptive, 2)
OPTION(prefetch_101, set_prefetch, 101)
OPTION(prefetch_negative, set_prefetch, -1)
OPTION(prefetch_max, set_prefetch, INT64_MAX)
OPTION(timeout_0, set_timeout_ms, 0)
OPTION(timeout_max, set_timeout_ms, INT64_MAX)
OPTION(request_timeout_0, set_request_timeout_ms, 0)
OPTION(connect_timeout_negative, set_connect_timeout_ms, -1)
OPTION(connections_0, set_connections, 0)
OPTION(connections_max, set_connections, INT64_MAX)
OPTION(connections_negative, set_connections, -1)
OPTION(token_lines, set_token, "a\nb")
OPTION(token_not_utf8, set_token, "\377")
OPTION(header_empty, add_header, "", "a")
OPTION(header_lines, add_header, "x-a", "b\r\nc: d")
OPTION(ca_file_missing, set_ca_file, "/does/not/exist.pem")
OPTION(name_slash, set_name, "a/b")
OPTION(name_empty, set_name, "")
OPTION(state_dir_empty, set_state_dir, "")
OPTION(persist_2, set_persist, 2)
OPTION(shared_fs_negative, set_shared_fs, -1)
OPTION(shared_group_negative, set_shared_group, -1)
OPTION(create_2, set_create, 2)
OPTION(file_tag_start, add_file_tag, "order", -1, 1)
OPTION(file_tag_start_max, add_file_tag, "order", INT64_MAX, 1)
OPTION(file_tag_step, add_file_tag, "order", 1, 0)
OPTION(file_tag_name, add_file_tag, "a\nb", 1, 1)
OPTION(prewarm_name, add_prewarm, "")
OPTION(prewarm_2, set_prewarm_last_day, 2)
OPTION(keep_unused_2, set_keep_unused, 2)
OPTION(ordered_2, set_ordered_source, 2)
OPTION(ordered_1, set_ordered_source, 1)
OPTION(block_size_0, set_block_size, 0)
OPTION(block_size_1, set_block_size, 1)
OPTION(block_size_min, set_block_size, INT64_MIN)
OPTION(block_size_million, set_block_size, 1000001)
OPTION(block_size_100, set_block_size, 100)
OPTION(nothing_more, set_adaptive, 1)

static leafid_status prewarm_many(leafid_segments_options *bad) {
    leafid_status status = LEAFID_OK;
    for (int i = 0; i < 1001 && status == LEAFID_OK; i++) {
        char tag[16];
        snprintf(tag, sizeof tag, "t%d", i);
        status = leafid_segments_options_add_prewarm(bad, tag);
    }
    return status;
}

static leafid_status kept_nowhere(leafid_segments_options *bad) {
    leafid_segments_options_set_persist(bad, 0);
    return leafid_segments_options_set_keep_unused(bad, 1);
}

static leafid_status tinyid_step(leafid_segments_options *bad) {
    leafid_segments_options_set_protocol(bad, LEAFID_PROTOCOL_TINYID);
    return leafid_segments_options_set_step(bad, 100);
}

static leafid_status snowflake_blocks(leafid_segments_options *bad) {
    leafid_segments_options_set_protocol(bad, LEAFID_PROTOCOL_LEAF_SNOWFLAKE);
    return leafid_segments_options_set_block_size(bad, 100);
}

static void bad_options(void) {
    refused_by_open(NONE, "servers is not set, nor is fetch", nothing_more);
    refused_by_open(SERVER, "servers is \"\"", server_empty);
    refused_by_open(SERVER, "servers is \"leaf-1\"", server_word);
    refused_by_open(SERVER, "servers is \"ftp://leaf-1\"", server_ftp);
    refused_by_open(SERVER, "servers is http://127.0.0.1:9, file:/tmp", server_file_too);
    refused_by_open(SERVER, "servers is \"http://\357\277\275\", which is not UTF-8", server_not_utf8);
    refused_by_open(CALLBACK, "fetch is set together with servers", server_word);
    refused_by_open(SERVER, "protocol is 4", protocol_4);
    refused_by_open(SERVER, "protocol is -1", protocol_negative);
    refused_by_open(CALLBACK, "protocol is set", protocol_for_servers);
    refused_by_open(CALLBACK, "step is 0", step_0);
    refused_by_open(CALLBACK, "step is 1000001", step_million);
    refused_by_open(CALLBACK, "step is -9223372036854775808", step_min);
    refused_by_open(CALLBACK, "adaptive is 2", adaptive_2);
    refused_by_open(CALLBACK, "prefetch is 101", prefetch_101);
    refused_by_open(CALLBACK, "prefetch is -1", prefetch_negative);
    refused_by_open(CALLBACK, "prefetch is 9223372036854775807", prefetch_max);
    refused_by_open(CALLBACK, "timeout_ms is 0", timeout_0);
    refused_by_open(CALLBACK, "timeout_ms is 9223372036854775807", timeout_max);
    refused_by_open(SERVER, "request_timeout_ms is 0", request_timeout_0);
    refused_by_open(SERVER, "connect_timeout_ms is -1", connect_timeout_negative);
    refused_by_open(SERVER, "connections is 0", connections_0);
    refused_by_open(SERVER, "connections is 9223372036854775807", connections_max);
    refused_by_open(SERVER, "connections is -1", connections_negative);
    refused_by_open(SERVER, "token is ", token_lines);
    refused_by_open(SERVER, "token is \"\357\277\275\", which is not UTF-8", token_not_utf8);
    refused_by_open(SERVER, "headers is ", header_empty);
    refused_by_open(SERVER, "headers is \"x-a\"", header_lines);
    refused_by_open(SERVER, "ca_file is /does/not/exist.pem", ca_file_missing);
    refused_by_open(CALLBACK, "name is \"a/b\"", name_slash);
    refused_by_open(CALLBACK, "name is \"\"", name_empty);
    refused_by_open(CALLBACK, "state_dir is \"\"", state_dir_empty);
    refused_by_open(CALLBACK, "persist is 2", persist_2);
    refused_by_open(CALLBACK, "shared_fs is -1", shared_fs_negative);
    refused_by_open(CALLBACK, "shared_group is -1", shared_group_negative);
    refused_by_open(FILES, "create is 2", create_2);
    refused_by_open(FILES, "the start of the tag \"order\" is -1", file_tag_start);
    refused_by_open(FILES, "the start of the tag \"order\" is 9223372036854775807", file_tag_start_max);
    refused_by_open(FILES, "the step of the tag \"order\" is 0", file_tag_step);
    refused_by_open(FILES, "tag is \"a\\nb\"", file_tag_name);
    refused_by_open(CALLBACK, "tags is set", file_tag_step);
    refused_by_open(CALLBACK, "tag is \"\"", prewarm_name);
    refused_by_open(CALLBACK, "prewarm is 1001 tags", prewarm_many);
    refused_by_open(CALLBACK, "prewarm_last_day is 2", prewarm_2);
    refused_by_open(CALLBACK, "keep_unused is 2", keep_unused_2);
    refused_by_open(CALLBACK, "keep_unused is true", kept_nowhere);
    refused_by_open(CALLBACK, "ordered_source is 2", ordered_2);
    refused_by_open(LEAF, "ordered_source is true", ordered_1);
    refused_by_open(LEAF, "block_size is 0", block_size_0);
    refused_by_open(LEAF, "block_size is 1", block_size_1);
    refused_by_open(LEAF, "block_size is -9223372036854775808", block_size_min);
    refused_by_open(LEAF, "block_size is 1000001", block_size_million);
    refused_by_open(LEAF, "block_size is 100", snowflake_blocks);
    refused_by_open(SERVER, "block_size is 100", block_size_100);
    refused_by_open(CALLBACK, "block_size is ", block_size_100);
    refused_by_open(FILES, "block_size is ", block_size_100);
    refused_by_open(LEAF, "step is 100", tinyid_step);
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

/* A directory of counters: two openings share it, and it goes on where it was. */
static void directory(void) {
    leafid_segments_options *options = from(FILES);
    leafid_segments *first, *second;
    leafid_tag *a, *b;
    int64_t id = -1;
    char source[700];
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
