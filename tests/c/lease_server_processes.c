/* Lease servers and other processes: a full pool, a lease that goes from one to the next, forks, and an exit beside a
   renewal. */
#define _GNU_SOURCE
#include "lease_source.h"
#include "processes.h"
#include "fake_server.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each process has a directory of its own, as on hosts of their own; only the server tells them apart. */
static void a_full_pool(void) {
    struct fake_server server;
    struct process holders[2];
    struct report reports[3];
    char name[64];
    fake_server_start(&server, NULL);
    say_to(&server, "{\"do\":\"pool\",\"size\":2}");
    snprintf(name, sizeof name, "%s", fresh_name());
    for (int i = 0; i < 2; i++) {
        holders[i] = start_holder(fresh_dir(), name, server.url, 100);
        reports[i] = read_report(&holders[i]);
        CHECK_NUMBER(reports[i].status, LEAFID_OK);
    }
    CHECK_NUMBER(reports[0].worker + reports[1].worker, 1);
    struct process third = start_holder(fresh_dir(), name, server.url, 100);
    reports[2] = read_report(&third);
    CHECK_NUMBER(reports[2].status, LEAFID_WORKER_IN_USE);
    CHECK(strstr(reports[2].text, "no free worker id") != NULL);
    end_process(&third, SIGTERM);
    /* A clean close gives it back, and the next one has it at once. */
    end_process(&holders[0], SIGTERM);
    third = start_holder(fresh_dir(), name, server.url, 100);
    reports[2] = read_report(&third);
    CHECK_NUMBER(reports[2].status, LEAFID_OK);
    CHECK_NUMBER(reports[2].worker, reports[0].worker);
    CHECK(reports[2].first_id > reports[0].last_id);
    end_process(&third, SIGTERM);
    end_process(&holders[1], SIGTERM);
    CHECK(strstr(say_to(&server, "{\"do\":\"leases\"}"), "\"held\": true") == NULL);
    fake_server_end(&server);
}

/* A child claims its own; nothing of its parent's lease is renewed or given back by it. */
static void in_a_child(void) {
    struct fake_server server;
    struct ids ids = {0};
    leafid_snowflake *flake;
    int64_t childs[8];
    fake_server_start(&server, NULL);
    say_to(&server, "{\"do\":\"pool\",\"size\":2,\"lease_ms\":1200}");
    REQUIRE_OK(open_flake(fresh_dir(), fresh_name(), server.url, &flake));
    make_ids_beside_a_child(flake, &ids, childs);
    for (int i = 0; i < 8; i++) CHECK_NUMBER(childs[i] >> 12 & 1023, 1);
    for (size_t i = 0; i < ids.count; i++) CHECK_NUMBER(ids.items[i] >> 12 & 1023, 0);
    const char *table = say_to(&server, "{\"do\":\"leases\"}");
    CHECK(strstr(table, "\"held\": true") && strstr(table, "\"held\": false"));
    CHECK_NUMBER(reported(&server, "claim", "total"), 2);
    CHECK_NUMBER(reported(&server, "release", "total"), 1);
    leafid_snowflake_free(flake);
    ids_free(&ids);
    fake_server_end(&server);
}

/* The role of a process that ends by itself, without a close, once its renewal hangs at the server. */
static int leave(int argc, char **argv) {
    leafid_snowflake *flake;
    char line[16];
    int64_t id;
    if (argc != 6 || strcmp(argv[1], "leaver") != 0) return 2;
    leafid_status status = open_flake(argv[2], argv[3], argv[4], &flake);
    if (status == LEAFID_OK) status = leafid_snowflake_next(flake, &id);
    write_report(status, status == LEAFID_OK ? flake : NULL, 0, 0);
    if (!fgets(line, sizeof line, stdin)) return 3;
    return 0;
}

static void exit_beside_a_renewal(void) {
    struct fake_server server;
    fake_server_start(&server, NULL);
    say_to(&server, "{\"do\":\"pool\",\"lease_ms\":1000}");
    say_to(&server, "{\"do\":\"fault\",\"fault\":{\"hang\":true},\"tag\":\"renew\"}");
    struct process leaver = start_process("leaver", fresh_dir(), fresh_name(), server.url, 1, -1);
    CHECK_NUMBER(read_report(&leaver).status, LEAFID_OK);
    EVENTUALLY(reported(&server, "renew", "under_way") > 0);
    CHECK(write(leaver.input, "go\n", 3) == 3);
    int status = -1;
    pid_t gone = 0;
    EVENTUALLY(gone == leaver.pid || (gone = waitpid(leaver.pid, &status, WNOHANG)) == leaver.pid);
    CHECK(WIFEXITED(status));
    CHECK_NUMBER(WEXITSTATUS(status), 0);
    if (gone == leaver.pid) leaver.pid = -1;
    end_process(&leaver, SIGKILL);
    fake_server_end(&server);
}

int main(int argc, char **argv) {
    run_role(argc, argv, leave);
    test("processes on a full pool of worker ids, and one that comes in", a_full_pool);
    test("a forked child claims a lease of its own", in_a_child);
    test("exit while a renewal is under way", exit_beside_a_renewal);
    return finish();
}
