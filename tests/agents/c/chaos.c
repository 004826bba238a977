/*
 * `chaos`: makes ids until SIGTERM, appends each to a file of its own before anything else happens to it, and notes what
 * befell it. SIGUSR1 has it fork; the child continues with the same handles for a while. chaos.py and chaos.mjs do the
 * same; their words and files are described in ../../chaos/runs.py.
 */
#define _GNU_SOURCE
#include "agent.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG_MS = 200 };

/* What one thread makes ids of one kind for. */
typedef struct {
    const char *kind;
    leafid_tag *tag;
    int file, failing;
    unsigned turn;
    long long last_ms, sampled_ms, waited_us;
    char code[64];
} line;

static leafid_snowflake *flake;
static leafid_segments *segments;
static line lines[TAGS + 1];
static int line_count, notes, argument_count, threads, pause_us, batch;
static char **arguments;
static volatile sig_atomic_t ending, fork_wanted;
static unsigned chance;

static const char *word(const char *key, const char *fallback) {
    return option(argument_count, arguments, key, fallback);
}

static void on_signal(int number) {
    if (number == SIGTERM) ending = 1;
    if (number == SIGUSR1) fork_wanted = 1;
}

static unsigned below(unsigned end) {
    chance ^= chance << 13;
    chance ^= chance >> 17;
    chance ^= chance << 5;
    return chance % end;
}

static long long now_ms(void) { return now_us() / 1000; }

/* How long this thread was kept from a processor that it was ready for. */
static long long kept_waiting_us(void) {
    long long ran, waited = 0;
    char text[128];
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    text[length > 0 ? length : 0] = 0;
    return sscanf(text, "%lld %lld", &ran, &waited) == 2 ? waited / 1000 : 0;
}

static void stop(const char *what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    _exit(4);
}

static void note(const char *what, const char *text) {
    char out[1200];
    int length = snprintf(out, sizeof out - 1, "%lld %d %s %s", now_ms(), (int)getpid(), what, text);
    if (length > (int)sizeof out - 2) length = sizeof out - 2;
    for (char *at = out; (at = memchr(at, '\n', (size_t)(out + length - at)));) *at = ' ';
    out[length++] = '\n';
    if (write(notes, out, (size_t)length) != length) stop("notes");
}

/* An error counts once until ids come again, or another one. */
static void note_error(line *of, const char *kind) {
    char text[900];
    leafid_last_error(text, sizeof text);
    size_t length = strcspn(text, ":");
    of->failing = 1;
    if (length < sizeof of->code && !strncmp(of->code, text, length) && !of->code[length]) return;
    snprintf(of->code, sizeof of->code, "%.*s", (int)length, text);
    char more[1000];
    snprintf(more, sizeof more, "%s %s", kind, text);
    note("error", more);
}

static void note_pause(line *of, long long now) {
    long long waited_us = kept_waiting_us();
    if (now - of->last_ms > LONG_MS) {
        char text[256];
        snprintf(text, sizeof text, "%s %lld %lld %lld %s", of->kind, of->last_ms, now,
                 (waited_us - of->waited_us) / 1000, of->code[0] ? of->code : "-");
        note("pause", text);
    }
    of->sampled_ms = now;
    of->waited_us = waited_us;
}

static void open_file(line *of, int is_alone) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s-%s-%d-%d", word("out", "."), of->kind,
             of->tag || !is_alone ? "mixed" : "rising", word("run", "0"), (int)getpid(), (int)(of - lines));
    of->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (of->file < 0) stop(path);
    of->last_ms = of->sampled_ms = 0;
    of->turn = 0;
}

/* Ids of one kind, once: whether there were any. */
static int make(line *of) {
    int64_t ids[BATCH];
    size_t n = of->turn % 3 == 0 ? 1 : of->turn % 3 == 1 ? 7 : (size_t)batch;
    leafid_status status;
    of->turn++;
    if (of->tag)
        status = n == 1 ? leafid_tag_next(of->tag, ids) : leafid_tag_fill(of->tag, ids, n);
    else
        status = n == 1 ? leafid_snowflake_next(flake, ids) : leafid_snowflake_fill(flake, ids, n);
    if (status != LEAFID_OK) {
        note_error(of, of->kind);
        return 0;
    }
    if (write(of->file, ids, n * sizeof *ids) != (ssize_t)(n * sizeof *ids)) stop(of->kind);
    long long now = now_ms();
    if (!of->last_ms)
        of->waited_us = kept_waiting_us(), of->sampled_ms = now;
    else if (now - of->last_ms > LONG_MS || now - of->sampled_ms > LONG_MS / 2)
        note_pause(of, now);
    of->last_ms = now;
    of->code[0] = 0;
    return 1;
}

static void rest(int made) { usleep((useconds_t)(made ? pause_us : 20000)); }

static void end_line(line *of) {
    if (of->last_ms) note_pause(of, now_ms());
}

static void *keep_making(void *of) {
    while (!ending) rest(make(of));
    end_line(of);
    return NULL;
}

/* Opens what the words say, again and again: a refusal is no end. */
static void open_all(void) {
    int wants_flakes = strcmp(word("worker", ""), "") != 0;
    line first = {.kind = "opening"};
    while (!ending && wants_flakes) {
        leafid_snowflake_options *options = NULL;
        uint32_t worker;
        char text[16];
        long long begun = now_ms();
        leafid_snowflake_options_new(&options);
        leafid_snowflake_options_set_worker(options, word("worker", ""));
        leafid_snowflake_options_set_name(options, word("name", ""));
        leafid_snowflake_options_set_state_dir(options, word("dir", ""));
        leafid_status status = leafid_snowflake_open(options, &flake);
        leafid_snowflake_options_free(options);
        if (status == LEAFID_OK && leafid_snowflake_worker_id(flake, &worker) == LEAFID_OK) {
            snprintf(text, sizeof text, "%u %lld", worker, now_ms() - begun);
            note("in", text);
            break;
        }
        note_error(&first, first.kind);
        leafid_snowflake_free(flake);
        flake = NULL;
        usleep(50000);
    }
    if (flake)
        for (int i = 0; i < (threads > 1 ? threads - 1 : 1); i++) lines[line_count++].kind = "flakes";
    if (!*word("tags", "")) return;
    leafid_segments_options *options = NULL;
    leafid_segments_options_new(&options);
    leafid_segments_options_set_name(options, word("name", ""));
    leafid_segments_options_set_state_dir(options, word("dir", ""));
    leafid_segments_options_add_server(options, word("servers", ""));
    leafid_segments_options_set_protocol(options, LEAFID_PROTOCOL_RANGE);
    leafid_segments_options_set_adaptive(options, 0);
    while (!ending && leafid_segments_open(options, &segments) != LEAFID_OK) {
        note_error(&first, first.kind);
        usleep(50000);
    }
    leafid_segments_options_free(options);
    char *names = strdup(word("tags", ""));
    for (char *name = strtok(names, ","); segments && name && line_count < TAGS; name = strtok(NULL, ",")) {
        line *of = &lines[line_count++];
        of->kind = name;
        if (leafid_segments_tag(segments, name, &of->tag) != LEAFID_OK) stop(name);
    }
}

/* The child continues with all handles by turns, for at most three seconds, and ends in one of four ways. */
static void be_child(unsigned seed) {
    int flakes = 0;
    chance = seed | 1;
    signal(SIGUSR1, SIG_IGN);
    for (int i = 0; i < line_count; i++) {
        close(lines[i].file);
        /* The parent's threads are not here: one line is enough for all snowflakes. */
        if (lines[i].tag || !flakes++) open_file(&lines[i], 1);
        else lines[i].kind = NULL;
        lines[i].code[0] = 0;
    }
    long long end = now_ms() + 20 + below(3000);
    while (!ending && now_ms() < end) {
        int made = 0;
        for (int i = 0; i < line_count; i++) made |= lines[i].kind && make(&lines[i]);
        rest(made);
    }
    switch (below(4)) {
        case 0: exit(0);
        case 1: _exit(0);
        case 2: raise(SIGKILL);
    }
    leafid_snowflake_close(flake);
    leafid_snowflake_free(flake);
    leafid_segments_close(segments);
    exit(0);
}

static void reap(int wait) {
    int status;
    while (waitpid(-1, &status, wait ? 0 : WNOHANG) > 0) {
        char text[64];
        snprintf(text, sizeof text, "%s %d", WIFSIGNALED(status) ? "signal" : "code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        note("child", text);
    }
}

int chaos(int count, char **words) {
    argument_count = count, arguments = words;
    notes = open(word("notes", ""), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (notes < 0) stop("notes");
    threads = atoi(word("threads", "1")), pause_us = atoi(word("pause_us", "2000")), batch = atoi(word("batch", "64"));
    if (batch > BATCH) batch = BATCH;
    chance = (unsigned)atoi(word("seed", "1")) | 1;
    signal(SIGTERM, on_signal);
    signal(SIGUSR1, on_signal);
    open_all();
    pthread_t others[TAGS + 1];
    for (int i = 0; i < line_count; i++) open_file(&lines[i], threads == 1);
    for (int i = 1; i < line_count && threads > 1; i++) pthread_create(&others[i], NULL, keep_making, &lines[i]);
    while (!ending && line_count) {
        int made = 0;
        for (int i = 0; i < (threads > 1 ? 1 : line_count); i++) made |= make(&lines[i]);
        rest(made);
        reap(0);
        if (fork_wanted) {
            unsigned seed = below(1u << 30);
            fork_wanted = 0;
            pid_t pid = fork();
            if (pid == 0) be_child(seed);
            note("fork", pid < 0 ? strerror(errno) : "");
        }
    }
    for (int i = 0; i < (threads > 1 ? 1 : line_count); i++) end_line(&lines[i]);
    for (int i = 1; i < line_count && threads > 1; i++) pthread_join(others[i], NULL);
    leafid_snowflake_close(flake);
    leafid_snowflake_free(flake);
    leafid_segments_close(segments);
    for (int i = 0; i < line_count; i++) leafid_tag_free(lines[i].tag);
    leafid_segments_free(segments);
    reap(1);
    note("done", "");
    return 0;
}
