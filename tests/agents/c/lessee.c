/* A holder of a leased worker id, which makes ids until its input ends, whatever befalls the lease. */
#define _GNU_SOURCE
#include "agent.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int notes, ids;

static int appended(int count, char **words, const char *key) {
    int fd = open(option(count, words, key, ""), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
        perror(key);
        exit(2);
    }
    return fd;
}

static void note(const char *what, const char *text) {
    char line[2200];
    int length = snprintf(line, sizeof line - 1, "%lld %s %s", now_us() / 1000, what, text);
    if (length > (int)sizeof line - 2) length = sizeof line - 2;
    for (char *at = line; (at = memchr(at, '\n', (size_t)(line + length - at)));) *at = ' ';
    line[length++] = '\n';
    if (write(notes, line, (size_t)length) != length) exit(4);
}

/* Whether the input ended, within this many milliseconds. */
static int is_over(int ms) {
    struct pollfd input = {0, POLLIN, 0};
    return poll(&input, 1, ms) > 0;
}

int lessee(int count, char **words) {
    int pause_us = atoi(option(count, words, "pause_us", "2000"));
    static handle opened;
    uint32_t worker;
    char text[16];
    ids = appended(count, words, "ids");
    notes = appended(count, words, "notes");
    while (open_handle(count, words, &opened) != LEAFID_OK || worker_of(&opened, &worker) != LEAFID_OK) {
        note("refused", last_error());
        free_handle(&opened);
        if (is_over(100)) return 0;
    }
    leafid_snowflake *flake = opened.flake;
    snprintf(text, sizeof text, "%u", worker);
    note("in", text);
    for (int turn = 0; !is_over(0); turn++) {
        int64_t made[20];
        size_t n = turn % 2 ? 20 : 1;
        leafid_status status = n > 1 ? leafid_snowflake_fill(flake, made, n) : leafid_snowflake_next(flake, made);
        if (status != LEAFID_OK) {
            note("error", last_error());
            usleep(20000);
        } else if (write(ids, made, n * sizeof *made) != (ssize_t)(n * sizeof *made)) {
            return 4;
        }
        usleep((useconds_t)pause_us);
    }
    if (close_handle(&opened) != LEAFID_OK) fail();
    free_handle(&opened);
    note("done", "");
    return 0;
}
