/* What a fork does to the parent's worker id: a living child takes nothing of it, a dead parent leaves nothing behind,
   and a daemon gets it from its exiting parent. */
#define _GNU_SOURCE
#include "processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[64], dir[512];

static void fresh_place(void) {
    snprintf(name, sizeof name, "%s", fresh_name());
    snprintf(dir, sizeof dir, "%s", fresh_dir());
}

/* The highest end of a span in any record of the id space. */
static int64_t recorded_until(void) {
    char path[1200];
    static char text[65536];
    int64_t highest = -1;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    DIR *records = opendir(path);
    REQUIRE(records != NULL);
    for (struct dirent *entry; (entry = readdir(records)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s/%s", dir, name, entry->d_name);
        FILE *file = fopen(path, "rb");
        if (!file) continue;
        size_t length = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[length] = '\0';
        for (char *at = text; (at = memmem(at, length - (size_t)(at - text), "\"until_ms\":", 11)) != NULL;) {
            at += 11;
            int64_t until = strtoll(at, NULL, 10);
            if (until > highest) highest = until;
        }
    }
    closedir(records);
    return highest;
}

/* Children of a fixed id that end by exit(): one that never uses the library, one that asks and is refused, one that
   closes and frees what it inherited. */
static void children_that_exit(void) {
    leafid_snowflake *flake;
    int64_t id, last;
    fresh_place();
    REQUIRE_OK(open_flake(dir, name, "9", &flake));
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    for (int kind = 0; kind < 3; kind++) {
        int64_t until = recorded_until();
        CHECK(until > id >> 22);
        fflush(NULL);
        pid_t child = fork();
        REQUIRE(child >= 0);
        if (child == 0) {
            alarm(20);
            if (kind == 1) {
                int64_t begun = now_ms(), refused = 0;
                if (leafid_snowflake_next(flake, &refused) != LEAFID_WORKER_IN_USE) exit(3);
                /* It had the time that a daemon's parent needs to exit. */
                if (now_ms() - begun < 450) exit(4);
                /* Again at the next call. */
                if (leafid_snowflake_next(flake, &refused) != LEAFID_WORKER_IN_USE) exit(5);
                if (refused != 0) exit(6);
            }
            if (kind == 2) {
                if (leafid_snowflake_close(flake) != LEAFID_OK) exit(7);
                leafid_snowflake_free(flake);
            }
            exit(0);
        }
        int status = -1;
        waitpid(child, &status, 0);
        CHECK(WIFEXITED(status));
        CHECK_NUMBER(WEXITSTATUS(status), 0);
        CHECK(recorded_until() >= until);
        struct process third = start_holder(dir, name, "9", 1);
        CHECK_NUMBER(read_report(&third).status, LEAFID_WORKER_IN_USE);
        end_process(&third, SIGKILL);
        last = id;
        REQUIRE_OK(leafid_snowflake_next(flake, &id));
        CHECK(id > last);
    }
    leafid_snowflake_free(flake);
}

/* In the role "parent": opens, makes a child that stays and does nothing, says its pid, and waits to be killed. */
static int parent_of_idle(int argc, char **argv) {
    if (argc != 6 || strcmp(argv[1], "parent") != 0) return 2;
    leafid_snowflake *flake = NULL;
    int64_t id = -1;
    leafid_status status = open_flake(argv[2], argv[3], argv[4], &flake);
    if (status == LEAFID_OK) status = leafid_snowflake_next(flake, &id);
    bool execs = strcmp(argv[5], "1") == 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        if (execs) execlp("sleep", "sleep", "30", (char *)NULL);
        for (;;) pause();
    }
    /* `first_id` carries the pid. The exec'd child has done it by then, or its descriptors are still the fork's. */
    pause_ms(50);
    write_report(status, flake, child, id);
    for (;;) pause();
}

static void dead_parent(const char *execs) {
    struct ids all = {0};
    fresh_place();
    for (int round = 0; round < 5; round++) {
        struct process parent = start_process("parent", dir, name, "5", *execs - '0', -1);
        struct report report = read_report(&parent);
        REQUIRE(report.status == LEAFID_OK);
        ids_add(&all, &report.last_id, 1);
        end_process(&parent, SIGKILL);
        leafid_snowflake *flake = NULL;
        int64_t begun = now_ms(), id;
        leafid_status status;
        /* A fixed id is refused at once: tried again for 100 ms. */
        do {
            status = open_flake(dir, name, "5", &flake);
        } while (status == LEAFID_WORKER_IN_USE && now_ms() - begun <= 100);
        if (CHECK_STATUS(status, LEAFID_OK)) {
            CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
            ids_add(&all, &id, 1);
            leafid_snowflake_free(flake);
        }
        CHECK(kill((pid_t)report.first_id, 0) == 0);
        kill((pid_t)report.first_id, SIGKILL);
    }
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    ids_free(&all);
}

static void dead_parent_of_idle(void) {
    dead_parent("0");
}

static void dead_parent_of_exec(void) {
    dead_parent("1");
}

/* The same where every id of a range is held by such a parent: a single new try has the dead one's within 100 ms. */
static void dead_parent_in_a_full_range(void) {
    enum { EIGHT = 8 };
    struct process parents[EIGHT];
    struct report reports[EIGHT];
    fresh_place();
    for (int i = 0; i < EIGHT; i++) {
        parents[i] = start_process("parent", dir, name, "0-7", i % 2, -1);
        reports[i] = read_report(&parents[i]);
        CHECK_NUMBER(reports[i].status, LEAFID_OK);
    }
    leafid_snowflake *flake = NULL;
    CHECK_STATUS(open_flake(dir, name, "0-7", &flake), LEAFID_WORKER_IN_USE);
    for (int i = 0; i < EIGHT; i++) {
        uint32_t worker = 99;
        end_process(&parents[i], SIGKILL);
        int64_t begun = now_ms(), id = -1;
        if (CHECK_STATUS(open_flake(dir, name, "0-7", &flake), LEAFID_OK)) {
            CHECK(now_ms() - begun <= 100);
            CHECK_STATUS(leafid_snowflake_worker_id(flake, &worker), LEAFID_OK);
            CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
            /* Freed ids come back to the first that asks: any of those whose parents are dead, above what it gave. */
            bool found = false;
            for (int k = 0; k <= i; k++) {
                if (reports[k].worker == (long)worker) {
                    found = true;
                    CHECK(id > reports[k].last_id);
                }
            }
            CHECK(found);
            leafid_snowflake_free(flake);
        }
    }
    for (int i = 0; i < EIGHT; i++) kill((pid_t)reports[i].first_id, SIGKILL);
}

/* In the role "daemon": worker 7, daemon(0, 0), an id. daemon() gives the standard output away, so it goes aside. */
static int become_daemon(int argc, char **argv) {
    if (argc != 6) return 2;
    leafid_snowflake *flake = NULL;
    int64_t before = -1, after = -1;
    leafid_status status = open_flake(argv[2], argv[3], argv[4], &flake);
    /* Every second one has made an id before. */
    if (status == LEAFID_OK && strcmp(argv[5], "1") == 0) status = leafid_snowflake_next(flake, &before);
    int out = dup(1);
    if (status == LEAFID_OK && daemon(0, 0) != 0) return 3;
    alarm(20);
    if (status == LEAFID_OK) status = leafid_snowflake_next(flake, &after);
    dup2(out, 1);
    close(out);
    write_report(status, flake, before, after);
    /* The next round begins when this one's output has ended: the id is free by then. */
    leafid_snowflake_free(flake);
    return 0;
}

static void daemons(void) {
    struct ids all = {0};
    int64_t last = -1;
    int good = 0;
    fresh_place();
    for (int round = 0; round < 200; round++) {
        struct process process = start_process("daemon", dir, name, "7", round % 2, -1);
        struct report report = read_report(&process);
        good += report.status == LEAFID_OK;
        if (report.status != LEAFID_OK) fprintf(stderr, "  round %d: %s\n", round, report.text);
        int64_t ids[2] = {report.first_id, report.last_id};
        CHECK(report.last_id > report.first_id);
        CHECK(report.last_id > last);
        last = report.last_id;
        ids_add(&all, report.first_id < 0 ? ids + 1 : ids, report.first_id < 0 ? 1 : 2);
        char rest[16];
        CHECK(!read_line(process.output, rest, sizeof rest));
        /* What was started is gone: it became the parent of the daemon. */
        end_process(&process, 0);
    }
    CHECK_NUMBER(good, 200);
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    ids_free(&all);
}

static int roles(int argc, char **argv) {
    return strcmp(argv[1], "daemon") == 0 ? become_daemon(argc, argv) : parent_of_idle(argc, argv);
}

int main(int argc, char **argv) {
    run_role(argc, argv, roles);
    test("children that exit leave the parent's record and lock as they were", children_that_exit);
    test("a killed parent with an idle child does not keep the id", dead_parent_of_idle);
    test("a killed parent with an exec'd child does not keep the id", dead_parent_of_exec);
    test("the same in a range that is full", dead_parent_in_a_full_range);
    test("open; daemon(0, 0); next: 200 times of 200", daemons);
    return finish();
}
