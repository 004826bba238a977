/* Worker ids leased from servers by URL: what the options say reaches the wire. */
#define _GNU_SOURCE
#include "lease_source.h"
#include "fake_server.h"

#include <string.h>

static void options_on_the_wire(void) {
    struct fake_server server;
    leafid_snowflake *flake = NULL;
    int64_t id;
    char text[160];
    fake_server_start(&server, NULL);
    say_to(&server, "{\"do\":\"token\",\"token\":\"open-sesame\"}");
    /* Without the token, by an error that says so. */
    CHECK_STATUS(open_flake(fresh_dir(), fresh_name(), server.url, &flake), LEAFID_SOURCE_INVALID);
    CHECK(!leafid_status_can_retry(LEAFID_SOURCE_INVALID));
    CHECK_SAYS("401");
    CHECK(flake == NULL);
    /* The first of the servers is dead: no process listens on the discard port. */
    snprintf(text, sizeof text, "http://127.0.0.1:9,%s/", server.url);
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), text);
    CHECK_STATUS(leafid_snowflake_options_set_token(options, "open-sesame"), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_add_header(options, "X-Shop", "7"), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_add_header(options, "X-Till", "b 2"), LEAFID_OK);
    say_to(&server, "{\"do\":\"forget\"}");
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
    leafid_snowflake_free(flake);
    const char *report = say_to(&server, "{\"do\":\"report\"}");
    CHECK(strstr(report, "\"path\": \"/api/worker/claim\"") && strstr(report, "\"path\": \"/api/worker/release\""));
    CHECK(strstr(report, "\"authorization\": \"Bearer open-sesame\"") != NULL);
    CHECK(strstr(report, "\"x-shop\": \"7\"") && strstr(report, "\"x-till\": \"b 2\""));
    /* The time for a request: a server that hangs is worker_lost. */
    CHECK_STATUS(leafid_snowflake_options_set_request_timeout_ms(options, 150), LEAFID_OK);
    say_to(&server, "{\"do\":\"fault\",\"fault\":{\"hang\":true}}");
    flake = NULL;
    CHECK_STATUS(leafid_snowflake_open(options, &flake), LEAFID_WORKER_LOST);
    CHECK_SAYS(server.url);
    CHECK(flake == NULL);
    leafid_snowflake_options_free(options);
    fake_server_end(&server);
}

int main(void) {
    test("options of lease servers reach the wire; the first of two is dead", options_on_the_wire);
    return finish();
}
