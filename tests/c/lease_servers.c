/* Worker ids leased from servers by URL: what the options say reaches the wire. */
#define _GNU_SOURCE
#include "lease_source.h"
#include "fake_server.h"

#include <stdlib.h>
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

/* A company's own authority, as the command openssl makes one. */
static void over_tls(void) {
    const char *dir = fresh_dir();
    char command[3000], key[600], certificate[600], authority[600];
    struct fake_server server;
    leafid_snowflake *flake = NULL;
    int64_t id;
    snprintf(key, sizeof key, "%s/server.key", dir);
    snprintf(certificate, sizeof certificate, "%s/server.pem", dir);
    snprintf(authority, sizeof authority, "%s/authority.pem", dir);
    snprintf(command, sizeof command,
             "exec 2>'%s/log'; cd '%s'; new='-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';"
             "echo subjectAltName=IP:127.0.0.1 >names;"
             "openssl req -x509 $new -days 2 -subj /CN=authority -keyout authority.key -out authority.pem &&"
             "openssl req $new -subj /CN=server -keyout server.key -out server.csr &&"
             "openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -set_serial 2 -days 2"
             " -extfile names -out server.pem", dir, dir);
    REQUIRE(system(command) == 0);
    const char *tls[] = {"--certificate", certificate, "--key", key, NULL};
    fake_server_start(&server, tls);
    snprintf(server.url, sizeof server.url, "https://127.0.0.1:%d", server.port);
    leafid_snowflake_options *options = options_for(fresh_dir(), fresh_name(), server.url);
    CHECK_STATUS(leafid_snowflake_open(options, &flake), LEAFID_WORKER_LOST);
    CHECK_SAYS("certificate");
    CHECK_STATUS(leafid_snowflake_options_set_ca_file(options, authority), LEAFID_OK);
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
    leafid_snowflake_free(flake);
    fake_server_end(&server);
}

int main(void) {
    test("options of lease servers reach the wire; the first of two is dead", options_on_the_wire);
    const char *tls = "lease servers over TLS with ca_file";
    if (getenv("LEAFID_TEST_SLOW")) {
        skip(tls, getenv("LEAFID_TEST_RUNNER") ? "openssl is not for this system"
                                               : "valgrind does not follow the hand-written code that ciphers");
    } else if (system("openssl version >/dev/null 2>&1") != 0) {
        skip(tls, "openssl is not installed");
    } else {
        test(tls, over_tls);
    }
    return finish();
}
