/* The agent in C: ../../system/subjects.py lists its commands. */
#define _GNU_SOURCE
#include "agent.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HANDLES = 8 };

const char *option(int count, char **words, const char *key, const char *fallback) {
    size_t length = strlen(key);
    for (int i = 0; i < count; i++)
        if (!strncmp(words[i], key, length) && words[i][length] == '=') return words[i] + length + 1;
    return fallback;
}

long long now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

const char *last_error(void) {
    static __thread char text[2048];
    leafid_last_error(text, sizeof text);
    return text;
}

void fail(void) {
    fprintf(stderr, "error %s\n", last_error());
    exit(3);
}

static void put(const int64_t *ids, size_t count) {
    if (write(1, ids, count * sizeof *ids) != (ssize_t)(count * sizeof *ids)) exit(4);
}

struct work {
    source of;
    const char *method;
    long long count, batch, pause_us;
};

static void *issue(void *argument) {
    struct work *work = argument;
    int64_t ids[BATCH];
    for (long long left = work->count ? work->count : -1; left != 0;) {
        size_t n = work->batch > BATCH ? BATCH : (size_t)work->batch;
        if (left > 0 && (size_t)left < n) n = (size_t)left;
        if (strcmp(work->method, "next")) {
            if (fill_ids(work->of, ids, n) != LEAFID_OK) fail();
        } else {
            for (size_t i = 0; i < n; i++)
                if (next_id(work->of, &ids[i]) != LEAFID_OK) fail();
        }
        put(ids, n);
        if (left > 0) left -= (long long)n;
        if (work->pause_us) usleep((useconds_t)work->pause_us);
    }
    return NULL;
}

static int stream(int count, char **words) {
    static handle opened;
    struct work work = {.method = option(count, words, "method", "next"),
                        .count = atoll(option(count, words, "count", "0")),
                        .batch = atoll(option(count, words, "batch", "512")),
                        .pause_us = atoll(option(count, words, "pause_us", "0"))};
    int64_t first;
    if (open_handle(count, words, &opened) != LEAFID_OK) fail();
    if (source_of(&opened, option(count, words, "tag", "order"), &work.of) != LEAFID_OK) fail();
    if (next_id(work.of, &first) != LEAFID_OK) fail();
    put(&first, 1);
    fputs("ready\n", stderr);
    pthread_t threads[16];
    int others = atoi(option(count, words, "threads", "1")) - 1;
    for (int i = 0; i < others && i < 16; i++) pthread_create(&threads[i], NULL, issue, &work);
    issue(&work);
    for (int i = 0; i < others && i < 16; i++) pthread_join(threads[i], NULL);
    if (!strcmp(option(count, words, "then", "wait"), "wait"))
        for (;;) pause();
    if (close_handle(&opened) != LEAFID_OK) fail();
    free_handle(&opened);
    return 0;
}

static leafid_status take(source of, int at_once, long long n, char *answer, size_t room) {
    int64_t *ids = calloc((size_t)n, sizeof *ids);
    leafid_status status = at_once ? fill_ids(of, ids, (size_t)n) : LEAFID_OK;
    size_t used = 0;
    for (long long i = 0; i < n && status == LEAFID_OK; i++) {
        if (!at_once) status = next_id(of, &ids[i]);
        if (used + 24 < room) used += (size_t)snprintf(answer + used, room - used, "%" PRId64 " ", ids[i]);
    }
    free(ids);
    return status;
}

static leafid_status run(source of, long long ms, long long pause_us, char *answer, size_t room) {
    long long end = now_us() + ms * 1000, slowest = 0, count = 0;
    int64_t first = 0, last = 0, id;
    int rising = 1;
    while (now_us() < end) {
        long long begun = now_us();
        leafid_status status = next_id(of, &id);
        if (status != LEAFID_OK) return status;
        if (now_us() - begun > slowest) slowest = now_us() - begun;
        if (!count++) first = id;
        rising = rising && (count == 1 || id > last);
        last = id;
        usleep((useconds_t)(pause_us < 100 ? 100 : pause_us));
    }
    snprintf(answer, room, "%lld %lld %" PRId64 " %" PRId64 " %s", count, slowest, first, last, rising ? "true" : "false");
    return LEAFID_OK;
}

static leafid_status stats_of(source of, char *answer, size_t room) {
    leafid_snowflake_stats_t flake;
    leafid_tag_stats_t tag;
    leafid_status status = of.tag ? leafid_tag_stats(of.tag, &tag, sizeof tag)
                                  : leafid_snowflake_stats(of.flake, &flake, sizeof flake);
    if (status != LEAFID_OK) return status;
    if (of.tag)
        snprintf(answer, room, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64, tag.left, tag.fetches,
                 tag.failures, tag.waits, tag.step);
    else
        snprintf(answer, room, "%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64, flake.reserved_until_ms, flake.lead_ms,
                 flake.renewals, flake.renewal_failures);
    return status;
}

static leafid_status with_source(source of, int count, char **words, const char *command, char *answer, size_t room) {
    long long first = count > 0 ? atoll(words[0]) : 1, second = count > 1 ? atoll(words[1]) : 0;
    if (!strcmp(command, "next")) return take(of, 0, first, answer, room);
    if (!strcmp(command, "take")) return take(of, 1, first, answer, room);
    if (!strcmp(command, "run")) return run(of, first, second, answer, room);
    if (!strcmp(command, "stats")) return stats_of(of, answer, room);
    if (!strcmp(command, "forks")) return forks(of, first, answer, room);
    fprintf(stderr, "unknown command %s\n", command);
    exit(2);
}

/* An idle child, after an exec if it is to be another program. */
static leafid_status idle_child(int is_other, char *answer, size_t room) {
    pid_t pid = fork();
    if (pid == 0 && is_other) {
        execlp("sleep", "sleep", "3600", NULL);
        _exit(127);
    }
    while (pid == 0) pause();
    snprintf(answer, room, "%d", (int)pid);
    return LEAFID_OK;
}

/* Does one command and prints what it answers. */
static leafid_status obey(int count, char **words, char *answer, size_t room) {
    static handle handles[HANDLES];
    const char *command = words[0];
    *answer = 0;
    if (!strcmp(command, "fork") || !strcmp(command, "exec")) return idle_child(!strcmp(command, "exec"), answer, room);
    /* Ends the process with its generators as they are. */
    if (!strcmp(command, "end") && !strcmp(words[1], "exit")) exit(0);
    if (!strcmp(command, "end")) abort();
    if (!strcmp(command, "rounds")) return open_and_close(atoll(words[1]), count, words, answer, room);
    handle *of = &handles[words[1][0] % HANDLES];
    if (!strcmp(command, "open")) {
        uint32_t worker;
        leafid_status status = open_handle(count, words, of);
        if (status == LEAFID_OK) status = worker_of(of, &worker);
        if (status == LEAFID_OK && of->flake) snprintf(answer, room, "%u", worker);
        return status;
    }
    if (!strcmp(command, "close")) return close_handle(of);
    int own = of->flake ? 2 : 3;
    source from;
    leafid_status status = source_of(of, count > 2 ? words[2] : "", &from);
    return status == LEAFID_OK ? with_source(from, count - own, words + own, command, answer, room) : status;
}

static int serve(void) {
    static char line[4096], answer[1 << 20];
    while (fgets(line, sizeof line, stdin)) {
        char *words[32];
        int count = 0;
        for (char *word = strtok(line, " \n"); word && count < 32; word = strtok(NULL, " \n")) words[count++] = word;
        if (!count || !strcmp(words[0], "quit")) break;
        long long begun = now_us();
        leafid_status status = obey(count, words, answer, sizeof answer);
        printf(status == LEAFID_OK ? "ok %lld %s\n" : "err %lld %s\n", now_us() - begun,
               status == LEAFID_OK ? answer : last_error());
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "stream")) return stream(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "serve")) return serve();
    if (argc > 1 && !strcmp(argv[1], "chaos")) return chaos(argc - 2, argv + 2);
    return 2;
}
