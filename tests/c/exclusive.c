/* One holder of a worker id at a time: between processes and users, and in a race. */
#define _GNU_SOURCE
#include "processes.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static char name[64], dir[512];

static void fresh_place(void) {
    snprintf(name, sizeof name, "%s", fresh_name());
    snprintf(dir, sizeof dir, "%s", fresh_dir());
}

static void check_names_holder(const char *text, pid_t holder) {
    char pid[32];
    struct utsname host;
    uname(&host);
    snprintf(pid, sizeof pid, "pid %d ", (int)holder);
    if (!CHECK(strstr(text, pid) != NULL && strstr(text, host.nodename) != NULL &&
               strstr(text, "started 2") != NULL)) {
        fprintf(stderr, "  the text is: %s\n", text);
    }
}

static void second_process(void) {
    fresh_place();
    struct process holder = start_holder(dir, name, "3", 10);
    CHECK_NUMBER(read_report(&holder).status, LEAFID_OK);
    int64_t begun = now_ms();
    struct process second = start_holder(dir, name, "3", 1);
    struct report refused = read_report(&second);
    CHECK_NUMBER(refused.status, LEAFID_WORKER_IN_USE);
    check_names_holder(refused.text, holder.pid);
    /* At once: a fixed id is not waited for. Mostly the start of the process. */
    CHECK(now_ms() - begun < 400);
    leafid_snowflake *here = NULL;
    CHECK_STATUS(open_flake(dir, name, "3", &here), LEAFID_WORKER_IN_USE);
    CHECK(here == NULL);
    end_process(&second, SIGKILL);
    end_process(&holder, SIGTERM);
    CHECK_STATUS(open_flake(dir, name, "3", &here), LEAFID_OK);
    leafid_snowflake_free(here);
}

static void other_user(void) {
    const uid_t nobody = 65534;
    fresh_place();
    struct process holder = start_holder(dir, name, "5", 1);
    CHECK_NUMBER(read_report(&holder).status, LEAFID_OK);
    /* A directory of its own, which it may reach whatever stands above: handed over as the working directory. */
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    REQUIRE(chown(dir, nobody, nobody) == 0);
    struct process second = start_process("nobody", dir, name, "5", 1, -1);
    struct report refused = read_report(&second);
    CHECK_NUMBER(refused.status, LEAFID_WORKER_IN_USE);
    check_names_holder(refused.text, holder.pid);
    end_process(&second, SIGKILL);
    end_process(&holder, SIGKILL);
}

static int as_nobody(int argc, char **argv) {
    if (argc != 6 || strcmp(argv[1], "nobody") != 0) return 2;
    if (chdir(argv[2]) != 0 || setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0) return 3;
    leafid_snowflake *flake = NULL;
    leafid_status status = open_flake(".", argv[3], argv[4], &flake);
    write_report(status, flake, -1, -1);
    leafid_snowflake_free(flake);
    return 0;
}

#define EIGHT 8

static void eight_at_one_barrier(void) {
    struct ids all = {0};
    fresh_place();
    for (size_t round = 0; round < scaled(50); round++) {
        struct process holders[EIGHT];
        int barrier[2];
        bool held[EIGHT] = {false};
        REQUIRE(pipe2(barrier, O_CLOEXEC) == 0);
        for (int i = 0; i < EIGHT; i++) {
            char ready[16];
            holders[i] = start_process("waiter", dir, name, "0-7", 2, barrier[0]);
            CHECK(read_line(holders[i].output, ready, sizeof ready));
        }
        close(barrier[0]);
        close(barrier[1]);
        for (int i = 0; i < EIGHT; i++) {
            struct report report = read_report(&holders[i]);
            if (!CHECK_NUMBER(report.status, LEAFID_OK)) fprintf(stderr, "  round %zu: %s\n", round, report.text);
            if (report.status != LEAFID_OK) continue;
            CHECK(!held[report.worker % EIGHT]);
            held[report.worker % EIGHT] = true;
            int64_t ids[2] = {report.first_id, report.last_id};
            ids_add(&all, ids, 2);
        }
        for (int i = 0; i < EIGHT; i++) end_process(&holders[i], round % 2 ? SIGTERM : SIGKILL);
    }
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    ids_free(&all);
}

int main(int argc, char **argv) {
    run_role(argc, argv, as_nobody);
    test("the second process of a fixed id is refused at once, naming the holder", second_process);
    if (geteuid() == 0) {
        test("the same as another user", other_user);
    } else {
        skip("the same as another user", "needs root");
    }
    test("8 processes at one barrier on 8 ids, 50 rounds: all start", eight_at_one_barrier);
    return finish();
}
