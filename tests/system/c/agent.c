/*
 * The subject of the system tests in C: `agent stream key=value…` and `agent serve`, with the protocol of the Rust
 * one in ../rust/src/stream.rs and serve.rs.
 */
#define _GNU_SOURCE
#include "agent.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 512, HANDLES = 8 };

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

/* How long this thread was kept from a processor that it was ready for, microseconds. */
static long long kept_waiting_us(void) {
    long long ran = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file) {
        if (fscanf(file, "%lld %lld", &ran, &waited) != 2) waited = 0;
        fclose(file);
    }
    return waited / 1000;
}

leafid_status open_flake(int count, char **words, leafid_snowflake **flake) {
    leafid_snowflake_options *options;
    leafid_status status = leafid_snowflake_options_new(&options);
    if (status != LEAFID_OK) return status;
    const char *text;
    leafid_snowflake_options_set_worker(options, option(count, words, "worker", "0"));
    if ((text = option(count, words, "name", NULL))) leafid_snowflake_options_set_name(options, text);
    if ((text = option(count, words, "dir", NULL))) leafid_snowflake_options_set_state_dir(options, text);
    if ((text = option(count, words, "timeout_ms", NULL)))
        leafid_snowflake_options_set_timeout_ms(options, atoll(text));
    if ((text = option(count, words, "request_timeout_ms", NULL)))
        leafid_snowflake_options_set_request_timeout_ms(options, atoll(text));
    if ((text = option(count, words, "connect_timeout_ms", NULL)))
        leafid_snowflake_options_set_connect_timeout_ms(options, atoll(text));
    if ((text = option(count, words, "token", NULL))) leafid_snowflake_options_set_token(options, text);
    if ((text = option(count, words, "ca_file", NULL))) leafid_snowflake_options_set_ca_file(options, text);
    if ((text = option(count, words, "max_backwards_ms", NULL)))
        leafid_snowflake_options_set_max_backwards_ms(options, atoll(text));
    if ((text = option(count, words, "random_start", NULL)))
        leafid_snowflake_options_set_random_start(options, atoll(text));
    if ((text = option(count, words, "on_clock_backwards", NULL)))
        leafid_snowflake_options_set_on_clock_backwards(
            options, !strcmp(text, "wait") ? LEAFID_ON_CLOCK_BACKWARDS_WAIT : LEAFID_ON_CLOCK_BACKWARDS_CONTINUE);
    status = leafid_snowflake_open(options, flake);
    leafid_snowflake_options_free(options);
    return status;
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

void put(const int64_t *ids, size_t count) {
    if (write(1, ids, count * sizeof *ids) != (ssize_t)(count * sizeof *ids)) exit(4);
}

struct work {
    leafid_snowflake *flake;
    const char *method;
    long long count;
};

static void *issue(void *argument) {
    struct work *work = argument;
    int64_t ids[BATCH];
    for (long long left = work->count ? work->count : -1; left != 0;) {
        size_t n = left < 0 || left > BATCH ? BATCH : (size_t)left;
        if (!strcmp(work->method, "fill")) {
            if (leafid_snowflake_fill(work->flake, ids, n) != LEAFID_OK) fail();
        } else {
            for (size_t i = 0; i < n; i++)
                if (leafid_snowflake_next(work->flake, &ids[i]) != LEAFID_OK) fail();
        }
        put(ids, n);
        if (left > 0) left -= (long long)n;
    }
    return NULL;
}

static int stream(int count, char **words) {
    long long begun = now_us(), waited = kept_waiting_us();
    leafid_snowflake *flake;
    int64_t first;
    uint32_t worker;
    if (open_flake(count, words, &flake) != LEAFID_OK) fail();
    long long opened = now_us() - begun;
    if (leafid_snowflake_next(flake, &first) != LEAFID_OK) fail();
    long long took = now_us() - begun;
    waited = kept_waiting_us() - waited;
    put(&first, 1);
    if (leafid_snowflake_worker_id(flake, &worker) != LEAFID_OK) fail();
    fprintf(stderr, "ready %d %u %lld %lld %lld\n", (int)getpid(), worker, opened, took, waited);
    struct work work = {flake, option(count, words, "method", "next"), atoll(option(count, words, "count", "0"))};
    pthread_t threads[16];
    int others = atoi(option(count, words, "threads", "1")) - 1;
    for (int i = 0; i < others && i < 16; i++) pthread_create(&threads[i], NULL, issue, &work);
    issue(&work);
    for (int i = 0; i < others && i < 16; i++) pthread_join(threads[i], NULL);
    if (!strcmp(option(count, words, "then", "wait"), "wait"))
        for (;;) pause();
    if (leafid_snowflake_close(flake) != LEAFID_OK) fail();
    leafid_snowflake_free(flake);
    return 0;
}

/* Does one command and prints what it answers. */
static leafid_status obey(leafid_snowflake **flakes, int count, char **words, char *answer, size_t room) {
    leafid_snowflake **flake = &flakes[count > 1 ? words[1][0] % HANDLES : 0];
    long long number = count > 2 ? atoll(words[2]) : 1;
    *answer = 0;
    if (!strcmp(words[0], "open")) {
        uint32_t worker;
        leafid_status status = open_flake(count, words, flake);
        if (status == LEAFID_OK) status = leafid_snowflake_worker_id(*flake, &worker);
        if (status == LEAFID_OK) snprintf(answer, room, "%u", worker);
        return status;
    }
    if (!strcmp(words[0], "next")) {
        size_t used = 0;
        for (long long i = 0; i < number && used + 24 < room; i++) {
            int64_t id;
            leafid_status status = leafid_snowflake_next(*flake, &id);
            if (status != LEAFID_OK) return status;
            used += (size_t)snprintf(answer + used, room - used, "%s%" PRId64, used ? " " : "", id);
        }
        return LEAFID_OK;
    }
    if (!strcmp(words[0], "run")) {
        long long end = now_us() + number * 1000, ids = 0, slowest = 0;
        useconds_t rest = count > 3 && atoi(words[3]) > 100 ? (useconds_t)atoi(words[3]) : 100;
        int64_t first = 0, last = 0;
        bool rising = true;
        while (now_us() < end) {
            int64_t id;
            long long begun = now_us();
            leafid_status status = leafid_snowflake_next(*flake, &id);
            if (status != LEAFID_OK) return status;
            if (now_us() - begun > slowest) slowest = now_us() - begun;
            if (!ids++) first = id;
            rising = rising && id > last;
            last = id;
            usleep(rest);
        }
        snprintf(answer, room, "%lld %lld %" PRId64 " %" PRId64 " %s", ids, slowest, first, last,
                 rising ? "true" : "false");
        return LEAFID_OK;
    }
    if (!strcmp(words[0], "stats")) {
        leafid_snowflake_stats_t stats;
        leafid_status status = leafid_snowflake_stats(*flake, &stats, sizeof stats);
        if (status == LEAFID_OK)
            snprintf(answer, room, "%" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64, stats.reserved_until_ms,
                     stats.lead_ms, stats.renewals, stats.renewal_failures);
        return status;
    }
    if (!strcmp(words[0], "pace")) return pace(*flake, number, answer, room);
    if (!strcmp(words[0], "forks")) return forks(*flake, number, answer, room);
    if (!strcmp(words[0], "rounds")) return open_and_close(atoll(words[1]), count, words, answer, room);
    /* Ends the process with its generators as they are. */
    if (!strcmp(words[0], "end") && !strcmp(words[1], "exit")) exit(0);
    if (!strcmp(words[0], "end")) abort();
    if (!strcmp(words[0], "close")) return leafid_snowflake_close(*flake);
    if (!strcmp(words[0], "fork")) {
        pid_t pid = fork();
        if (pid == 0)
            for (;;) pause();
        snprintf(answer, room, "%d", (int)pid);
        return LEAFID_OK;
    }
    if (!strcmp(words[0], "exec")) {
        pid_t pid = fork();
        if (pid == 0) {
            execlp("sleep", "sleep", "60", NULL);
            _exit(127);
        }
        snprintf(answer, room, "%d", (int)pid);
        return LEAFID_OK;
    }
    fprintf(stderr, "unknown command %s\n", words[0]);
    exit(2);
}

static int serve(void) {
    leafid_snowflake *flakes[HANDLES] = {0};
    static char line[4096], answer[65536];
    while (fgets(line, sizeof line, stdin)) {
        char *words[32];
        int count = 0;
        for (char *word = strtok(line, " \n"); word && count < 32; word = strtok(NULL, " \n")) words[count++] = word;
        if (!count || !strcmp(words[0], "quit")) break;
        long long begun = now_us();
        leafid_status status = obey(flakes, count, words, answer, sizeof answer);
        long long took = now_us() - begun;
        if (status == LEAFID_OK)
            printf("ok %lld %s\n", took, answer);
        else
            printf("err %lld %s\n", took, last_error());
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "stream")) return stream(argc - 2, argv + 2);
    if (argc > 1 && !strcmp(argv[1], "serve")) return serve();
    if (argc > 1 && !strcmp(argv[1], "lessee")) return lessee(argc - 2, argv + 2);
    if (argc > 2 && !strcmp(argv[1], "segments"))
        return !strcmp(argv[2], "stream") ? segments_stream(argc - 3, argv + 3) : segments_serve();
    return 2;
}
