/* Worker ids leased from servers by URL: claimed, renewed, given back; what the options say reaches the wire. */
#define _GNU_SOURCE
#include "lease_source.h"
#include "fake_server.h"

#include <stdlib.h>
#include <string.h>

static const char *listed(struct fake_server *server) { return say_to(server, "{\"do\":\"leases\"}"); }

static void pool(struct fake_server *server, int size, int lease_ms) {
    say_to(server, "{\"do\":\"pool\",\"size\":%d,\"lease_ms\":%d}", size, lease_ms);
}

static uint32_t worker_of(leafid_snowflake *flake) {
    uint32_t worker = 0;
    CHECK_STATUS(leafid_snowflake_worker_id(flake, &worker), LEAFID_OK);
    return worker;
}

static leafid_snowflake_stats_t stats_of(leafid_snowflake *flake) {
    leafid_snowflake_stats_t stats = {0};
    CHECK_STATUS(leafid_snowflake_stats(flake, &stats, sizeof stats), LEAFID_OK);
    return stats;
}

/* All are of this worker id, in time before where the server says that its ticks were given. */
static void check_within(const struct ids *ids, uint32_t worker, int64_t until_ms) {
    for (size_t i = 0; i < ids->count; i++) {
        leafid_parts parts;
        CHECK_STATUS(leafid_decode(ids->items[i], NULL, &parts), LEAFID_OK);
        CHECK_NUMBER(parts.worker_id, worker);
        CHECK(parts.timestamp_ms < until_ms);
    }
}

static void renewed(void) {
    struct fake_server server;
    struct ids ids = {0};
    leafid_snowflake *flake;
    char name[64];
    fake_server_start(&server, NULL);
    pool(&server, 1, LEASE_MS);
    snprintf(name, sizeof name, "%s", fresh_name());
    REQUIRE_OK(open_flake(fresh_dir(), name, server.url, &flake));
    const char *table;
    int64_t end = now_ms() + HANG_MS;
    do {
        REQUIRE_OK(make_ids(flake, 50, &ids));
        table = listed(&server);
    } while (number_in(table, "renewals") < 2 && now_ms() < end);
    CHECK(number_in(table, "renewals") >= 2);
    leafid_snowflake_stats_t stats = stats_of(flake);
    CHECK_NUMBER((int64_t)stats.claims, 1);
    /* A renewal may have come between. */
    table = listed(&server);
    CHECK(stats.lease_until_ms > 0 && stats.lease_until_ms <= number_in(table, "until"));
    CHECK(strstr(table, "\"held\": true") != NULL);
    check_within(&ids, 0, number_in(table, "until"));
    /* Of one id there is no second. */
    leafid_snowflake *other = NULL;
    CHECK_STATUS(open_flake(fresh_dir(), name, server.url, &other), LEAFID_WORKER_IN_USE);
    CHECK_SAYS("none of the 1 worker ids");
    CHECK(other == NULL);
    /* Given back: up to the last id alone, so that the next holder begins at once. */
    leafid_snowflake_free(flake);
    table = listed(&server);
    CHECK(strstr(table, "\"held\": false") != NULL);
    CHECK(number_in(table, "until") <= number_in(table, "server_time"));
    check_within(&ids, 0, number_in(table, "until"));
    struct ids more = {0};
    REQUIRE_OK(open_flake(fresh_dir(), name, server.url, &flake));
    REQUIRE_OK(make_ids(flake, 50, &more));
    ids_add(&ids, more.items, more.count);
    CHECK_NUMBER((int64_t)ids_repeated(&ids), 0);
    CHECK_NUMBER(worker_of(flake), 0);
    leafid_snowflake_free(flake);
    ids_free(&ids);
    ids_free(&more);
    fake_server_end(&server);
}

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
    /* The first of the servers is dead: nobody listens on the discard port. */
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
    test("a lease of a server is claimed, renewed, and given back", renewed);
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
