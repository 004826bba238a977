/* Lease servers and a process that exits beside a renewal. */
#define _GNU_SOURCE
#include "lease_source.h"
#include "processes.h"
#include "fake_server.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    say_to(&server, "{\"do\":\"pool\",\"lease_ms\":%d}", LEASE_MS);
    say_to(&server, "{\"do\":\"fault\",\"fault\":{\"hang\":true},\"tag\":\"renew\"}");
    struct process leaver = start_process("leaver", fresh_dir(), fresh_name(), server.url, 1);
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
    test("exit while a renewal is under way", exit_beside_a_renewal);
    return finish();
}
