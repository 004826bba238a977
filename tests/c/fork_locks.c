/* What a fork does to the parent's worker id: a living child takes nothing of it, and a daemon gets it from its exiting
   parent. */
#define _GNU_SOURCE
#include "processes.h"

#include <dirent.h>
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
            alarm(HANG_S);
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
    alarm(HANG_S);
    /* Each call gives a parent half a second to exit, which on a slow machine may be too little. */
    int64_t begun = 0;
    if (status == LEAFID_OK) do {
        begun = now_ms();
        status = leafid_snowflake_next(flake, &after);
    } while (status == LEAFID_WORKER_IN_USE && now_ms() >= begun + 450);
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
        struct process process = start_process("daemon", dir, name, "7", round % 2);
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

int main(int argc, char **argv) {
    run_role(argc, argv, become_daemon);
    test("children that exit leave the parent's record and lock as they were", children_that_exit);
    test("open; daemon(0, 0); next: 200 times of 200", daemons);
    return finish();
}
