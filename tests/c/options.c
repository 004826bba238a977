/* Bad options of every kind: an error that names the option, its value and what is allowed. */
#define _GNU_SOURCE
#include "check.h"

#include <limits.h>
#include <string.h>

/* Options that a setter or open refuses: open says so in every case, with the option's name and value. */
static void refused_by_open(const char *option, const char *value, leafid_status (*set)(leafid_snowflake_options *)) {
    leafid_snowflake_options *bad = options_for(fresh_dir(), fresh_name(), "1");
    leafid_snowflake *opened = NULL;
    leafid_status first = set(bad);
    char setter_text[1024] = "", open_text[1024], expected[256];
    if (first != LEAFID_OK) leafid_last_error(setter_text, sizeof setter_text);
    CHECK(first == LEAFID_OK || first == LEAFID_INVALID_ARGUMENT);
    if (!CHECK_STATUS(leafid_snowflake_open(bad, &opened), LEAFID_INVALID_ARGUMENT)) {
        fprintf(stderr, "  for %s = %s\n", option, value);
        leafid_snowflake_free(opened);
    }
    CHECK(opened == NULL);
    leafid_last_error(open_text, sizeof open_text);
    if (first != LEAFID_OK) CHECK(strcmp(open_text, setter_text) == 0);
    snprintf(expected, sizeof expected, "%s is %s", option, value);
    CHECK_SAYS(expected);
    CHECK_SAYS("; allowed: ");
    leafid_snowflake_options_free(bad);
}

#define OPTION(function, setter, ...) \
    static leafid_status function(leafid_snowflake_options *bad) { \
        return leafid_snowflake_options_set_##setter(bad, __VA_ARGS__); \
    }
OPTION(worker_1024, worker_id, 1024)
OPTION(worker_negative, worker_id, -1)
OPTION(worker_max, worker_id, INT64_MAX)
OPTION(worker_text_1024, worker, "1024")
OPTION(worker_empty, worker, "")
OPTION(worker_words, worker, "seven")
OPTION(worker_signed, worker, "+7")
OPTION(worker_spaced, worker, " 7")
OPTION(worker_float, worker, "7.0")
OPTION(worker_huge, worker, "18446744073709551616")
OPTION(worker_step, worker, "0-31-2")
OPTION(worker_half, worker, "0-")
OPTION(worker_backwards, worker, "31-0")
OPTION(worker_not_utf8, worker, "\377")
OPTION(range_backwards, worker_range, 5, 4)
OPTION(range_negative, worker_range, -1, 4)
OPTION(range_too_far, worker_range, 0, 1024)
OPTION(range_wild, worker_range, INT64_MIN, INT64_MAX)
OPTION(name_empty, name, "")
OPTION(name_slash, name, "a/b")
OPTION(name_dot, name, "..")
OPTION(name_long, name, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
OPTION(name_not_utf8, name, "a\377")
OPTION(state_dir_empty, state_dir, "")
OPTION(layout_64_bits, layout, "42|10|12")
OPTION(layout_words, layout, "leaves")
OPTION(epoch_negative, epoch_ms, -1)
OPTION(epoch_ahead, epoch_ms, INT64_C(4102444800000))
OPTION(epoch_max, epoch_ms, INT64_MAX)
OPTION(backwards_7, on_clock_backwards, 7)
OPTION(backwards_negative, on_clock_backwards, -1)
OPTION(max_backwards_99, max_backwards_ms, 99)
OPTION(max_backwards_negative, max_backwards_ms, -1)
OPTION(max_backwards_max, max_backwards_ms, INT64_MAX)
OPTION(exhausted_2, on_exhausted, 2)
OPTION(random_negative, random_start, -1)
OPTION(random_max, random_start, INT64_MAX)
OPTION(hostname_empty, worker, "hostname:")
OPTION(hostname_other, worker, "hostname:no-host-of-ours")
OPTION(hostname_none, worker, "hostname:orders*0")
OPTION(persist_2, persist, 2)
OPTION(persist_negative, persist, -1)
OPTION(shared_fs_2, shared_fs, 2)
OPTION(shared_group_2, shared_group, 2)
OPTION(exclusive_range_2, exclusive_range, 2)
OPTION(no_record_wait_ms_negative, no_record_wait_ms, -1)
OPTION(no_record_wait_ms_hours, no_record_wait_ms, 3600001)
OPTION(lazy_max, lazy, INT32_MAX)
OPTION(clock_source_2, clock_source, 2)
OPTION(clock_source_negative, clock_source, -1)
OPTION(start_after_negative, start_after, -1)
OPTION(url_port, worker, "https://ids:0")
OPTION(url_query, worker, "http://a,http://b?c")
OPTION(url_empty, worker, "http://a,")
OPTION(url_of_none, worker, "http://a, 7")
OPTION(url_ftp, worker, "ftp://ids")
OPTION(url_user, worker, "http://ann:secret@ids")
OPTION(token_alone, token, "x")
OPTION(ca_file_alone, ca_file, "/x")
OPTION(request_timeout_alone, request_timeout_ms, 500)
OPTION(connect_timeout_alone, connect_timeout_ms, 500)
OPTION(timeout_0, timeout_ms, 0)
OPTION(timeout_negative, timeout_ms, -5)
OPTION(timeout_max, timeout_ms, INT64_MAX)

static leafid_status header_alone(leafid_snowflake_options *bad) {
    return leafid_snowflake_options_add_header(bad, "x", "y");
}

/* With a lease server, which is asked for nothing. */
#define SERVER_OPTION(function, setter, ...) \
    static leafid_status function(leafid_snowflake_options *bad) { \
        leafid_snowflake_options_set_worker(bad, "http://127.0.0.1:9,http://127.0.0.1:19"); \
        return leafid_snowflake_options_##setter(bad, __VA_ARGS__); \
    }
SERVER_OPTION(token_empty, set_token, "")
SERVER_OPTION(token_lines, set_token, "a\nb")
SERVER_OPTION(token_not_utf8, set_token, "\377")
SERVER_OPTION(header_empty, add_header, "", "a")
SERVER_OPTION(header_lines, add_header, "x-a", "b\r\nc: d")
SERVER_OPTION(header_host, add_header, "Host", "x")
SERVER_OPTION(ca_file_missing, set_ca_file, "/does/not/exist.pem")
SERVER_OPTION(request_timeout_0, set_request_timeout_ms, 0)
SERVER_OPTION(request_timeout_min, set_request_timeout_ms, INT64_MIN)
SERVER_OPTION(connect_timeout_negative, set_connect_timeout_ms, -1)
SERVER_OPTION(connect_timeout_max, set_connect_timeout_ms, INT64_MAX)

static void bad_options_of_servers(void) {
    refused_by_open("worker", "\"https://ids:0\"", url_port);
    refused_by_open("worker", "\"http://b?c\"", url_query);
    refused_by_open("worker", "\"\"", url_empty);
    refused_by_open("worker", "\"7\"", url_of_none);
    refused_by_open("worker", "\"ftp://ids\"", url_ftp);
    refused_by_open("worker", "a URL with an @", url_user);
    refused_by_open("token", "set; allowed: only with the URL of a lease server", token_alone);
    refused_by_open("headers", "set; allowed: only with the URL of a lease server", header_alone);
    refused_by_open("ca_file", "set; allowed: only with the URL of a lease server", ca_file_alone);
    refused_by_open("request_timeout_ms", "set; allowed: only with the URL of a lease server", request_timeout_alone);
    refused_by_open("connect_timeout_ms", "set; allowed: only with the URL of a lease server", connect_timeout_alone);
    refused_by_open("token", "", token_empty);
    refused_by_open("token", "", token_lines);
    refused_by_open("token", "\"\357\277\275\", which is not UTF-8", token_not_utf8);
    refused_by_open("headers", "", header_empty);
    refused_by_open("headers", "\"x-a\"", header_lines);
    refused_by_open("headers", "\"Host\"", header_host);
    refused_by_open("ca_file", "/does/not/exist.pem", ca_file_missing);
    refused_by_open("request_timeout_ms", "0", request_timeout_0);
    refused_by_open("request_timeout_ms", "-9223372036854775808", request_timeout_min);
    refused_by_open("connect_timeout_ms", "-1", connect_timeout_negative);
    refused_by_open("connect_timeout_ms", "9223372036854775807", connect_timeout_max);
}

static void bad_options(void) {
    refused_by_open("worker", "1024", worker_1024);
    refused_by_open("worker", "-1", worker_negative);
    refused_by_open("worker", "9223372036854775807", worker_max);
    refused_by_open("worker", "\"1024\"", worker_text_1024);
    refused_by_open("worker", "\"\"", worker_empty);
    refused_by_open("worker", "\"seven\"", worker_words);
    refused_by_open("worker", "\"+7\"", worker_signed);
    refused_by_open("worker", "\" 7\"", worker_spaced);
    refused_by_open("worker", "\"7.0\"", worker_float);
    refused_by_open("worker", "\"18446744073709551616\"", worker_huge);
    refused_by_open("worker", "\"0-31-2\"", worker_step);
    refused_by_open("worker", "\"0-\"", worker_half);
    refused_by_open("worker", "the empty range \"31-0\"", worker_backwards);
    refused_by_open("worker", "\"\357\277\275\", which is not UTF-8", worker_not_utf8);
    refused_by_open("worker", "the empty range 5-4", range_backwards);
    refused_by_open("worker", "-1-4", range_negative);
    refused_by_open("worker", "0-1024", range_too_far);
    refused_by_open("worker", "-9223372036854775808-9223372036854775807", range_wild);
    refused_by_open("name", "\"\"", name_empty);
    refused_by_open("name", "\"a/b\"", name_slash);
    refused_by_open("name", "\"..\"", name_dot);
    refused_by_open("name", "\"aaaaaa", name_long);
    refused_by_open("name", "\"a\357\277\275\", which is not UTF-8", name_not_utf8);
    refused_by_open("state_dir", "\"\"", state_dir_empty);
    refused_by_open("layout", "42|10|12, 64 bits", layout_64_bits);
    refused_by_open("layout", "\"leaves\"", layout_words);
    refused_by_open("epoch_ms", "-1", epoch_negative);
    refused_by_open("epoch_ms", "4102444800000", epoch_ahead);
    refused_by_open("epoch_ms", "9223372036854775807", epoch_max);
    refused_by_open("on_clock_backwards", "7", backwards_7);
    refused_by_open("on_clock_backwards", "-1", backwards_negative);
    refused_by_open("max_backwards_ms", "99", max_backwards_99);
    refused_by_open("max_backwards_ms", "-1", max_backwards_negative);
    refused_by_open("max_backwards_ms", "9223372036854775807", max_backwards_max);
    refused_by_open("on_exhausted", "2", exhausted_2);
    refused_by_open("random_start", "-1", random_negative);
    refused_by_open("random_start", "9223372036854775807", random_max);
    refused_by_open("worker", "\"hostname:\" on a host called ", hostname_empty);
    refused_by_open("worker", "\"hostname:no-host-of-ours\" on a host called ", hostname_other);
    refused_by_open("worker", "\"hostname:orders*0\" on a host called ", hostname_none);
    refused_by_open("persist", "2", persist_2);
    refused_by_open("persist", "-1", persist_negative);
    refused_by_open("shared_fs", "2", shared_fs_2);
    refused_by_open("shared_group", "2", shared_group_2);
    refused_by_open("exclusive_range", "2", exclusive_range_2);
    refused_by_open("no_record_wait_ms", "-1", no_record_wait_ms_negative);
    refused_by_open("no_record_wait_ms", "3600001", no_record_wait_ms_hours);
    refused_by_open("lazy", "2147483647", lazy_max);
    refused_by_open("clock_source", "2", clock_source_2);
    refused_by_open("clock_source", "-1", clock_source_negative);
    refused_by_open("start_after", "-1", start_after_negative);
    refused_by_open("timeout_ms", "0", timeout_0);
    refused_by_open("timeout_ms", "-5", timeout_negative);
    refused_by_open("timeout_ms", "9223372036854775807", timeout_max);
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
