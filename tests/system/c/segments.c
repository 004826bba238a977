/* The subject of the system tests of segments in C, with the protocol of the Rust one in ../rust/src/segments. */
#define _GNU_SOURCE
#include "agent.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 512, HANDLES = 8, TAGS = 64 };

static leafid_segments *opened[HANDLES];
static struct {
    char handle, name[140];
    leafid_tag *tag;
} tags[TAGS];

/* A source that counts from 1, the same for all tags. */
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static int64_t counted = 1;

static int count_on(void *user_data, const char *tag, int64_t step, leafid_segment *out, char *error, size_t room) {
    (void)tag, (void)error, (void)room;
    usleep((useconds_t)(intptr_t)user_data * 1000);
    pthread_mutex_lock(&counting);
    out->start = counted;
    out->end = counted += step;
    out->stride = 1;
    pthread_mutex_unlock(&counting);
    return LEAFID_OK;
}

/* The text up to the separator, which is cut there; *rest goes on behind it, NULL at the end. */
static char *cut(char **rest, char separator) {
    char *text = *rest, *at = strchr(text, separator);
    if (at) *at = 0;
    *rest = at ? at + 1 : NULL;
    return text;
}

static int32_t protocol_of(const char *name) {
    if (!strcmp(name, "leaf")) return LEAFID_PROTOCOL_LEAF;
    if (!strcmp(name, "leaf-snowflake")) return LEAFID_PROTOCOL_LEAF_SNOWFLAKE;
    return strcmp(name, "tinyid") ? LEAFID_PROTOCOL_RANGE : LEAFID_PROTOCOL_TINYID;
}

static void describe(leafid_segments_options *options, int count, char **words) {
    static const struct {
        const char *key;
        leafid_status (*set)(leafid_segments_options *, int64_t);
    } numbers[] = {
        {"step", leafid_segments_options_set_step},
        {"timeout_ms", leafid_segments_options_set_timeout_ms},
        {"request_timeout_ms", leafid_segments_options_set_request_timeout_ms},
        {"connect_timeout_ms", leafid_segments_options_set_connect_timeout_ms},
        {"connections", leafid_segments_options_set_connections},
        {"block_size", leafid_segments_options_set_block_size},
    };
    const char *text;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((text = option(count, words, numbers[i].key, NULL))) numbers[i].set(options, atoll(text));
    if ((text = option(count, words, "name", NULL))) leafid_segments_options_set_name(options, text);
    if ((text = option(count, words, "dir", NULL))) leafid_segments_options_set_state_dir(options, text);
    if (option(count, words, "keep", NULL)) leafid_segments_options_set_keep_unused(options, 1);
    if (option(count, words, "create", NULL)) leafid_segments_options_set_create(options, 1);
    if (option(count, words, "unordered", NULL)) leafid_segments_options_set_ordered_source(options, 0);
    if (!strcmp(option(count, words, "adaptive", ""), "no")) leafid_segments_options_set_adaptive(options, 0);
    if ((text = option(count, words, "tags", NULL))) {
        char *list = strdup(text);
        for (char *rest = list; rest;) {
            char *fields = cut(&rest, ','), *name = cut(&fields, ':');
            int64_t start = fields ? atoll(cut(&fields, ':')) : 1;
            leafid_segments_options_add_file_tag(options, name, start, fields ? atoll(fields) : 1000);
        }
        free(list);
    }
    if (!(text = option(count, words, "servers", NULL))) {
        intptr_t delay_ms = atoi(option(count, words, "delay_ms", "0"));
        leafid_segments_options_set_fetch(options, count_on, (void *)delay_ms, NULL);
        return;
    }
    const char *protocol = option(count, words, "protocol", "range"), *token = option(count, words, "token", NULL);
    if (strncmp(text, "file:", 5)) leafid_segments_options_set_protocol(options, protocol_of(protocol));
    if (token) leafid_segments_options_set_token(options, token);
    char *list = strdup(text);
    for (char *rest = list; rest;) leafid_segments_options_add_server(options, cut(&rest, ','));
    free(list);
}

static leafid_status open_segments(int count, char **words, leafid_segments **out) {
    leafid_segments_options *options;
    leafid_status status = leafid_segments_options_new(&options);
    if (status != LEAFID_OK) return status;
    describe(options, count, words);
    status = leafid_segments_open(options, out);
    leafid_segments_options_free(options);
    return status;
}

static leafid_status tag_of(char handle, const char *name, leafid_tag **out) {
    int at = 0;
    while (at < TAGS - 1 && tags[at].tag && (tags[at].handle != handle || strcmp(tags[at].name, name))) at++;
    leafid_status status = tags[at].tag ? LEAFID_OK : leafid_segments_tag(opened[handle % HANDLES], name, &tags[at].tag);
    if (status == LEAFID_OK) {
        tags[at].handle = handle;
        snprintf(tags[at].name, sizeof tags[at].name, "%s", name);
        *out = tags[at].tag;
    }
    return status;
}

static leafid_status close_segments(char handle) {
    for (int i = 0; i < TAGS; i++)
        if (tags[i].tag && tags[i].handle == handle) {
            leafid_tag_free(tags[i].tag);
            tags[i].tag = NULL;
        }
    leafid_segments **segments = &opened[handle % HANDLES];
    leafid_status status = leafid_segments_close(*segments);
    leafid_segments_free(*segments);
    *segments = NULL;
    return status;
}

static leafid_status rounds(long long times, int count, char **words, char *answer, size_t room) {
    for (long long i = 0; i < times; i++) {
        leafid_segments *segments;
        leafid_tag *tag = NULL;
        int64_t id;
        leafid_status status = open_segments(count, words, &segments);
        if (status != LEAFID_OK) return status;
        status = leafid_segments_tag(segments, "order", &tag);
        if (status == LEAFID_OK) status = leafid_tag_next(tag, &id);
        leafid_tag_free(tag);
        if (status == LEAFID_OK) status = leafid_segments_close(segments);
        leafid_segments_free(segments);
        if (status != LEAFID_OK) return status;
    }
    snprintf(answer, room, "%lld true", times);
    return LEAFID_OK;
}

static leafid_status take(leafid_tag *tag, int at_once, long long n, char *answer, size_t room) {
    int64_t *ids = calloc((size_t)n, sizeof *ids);
    leafid_status status = at_once ? leafid_tag_fill(tag, ids, (size_t)n) : LEAFID_OK;
    size_t used = 0;
    for (long long i = 0; i < n && status == LEAFID_OK; i++) {
        if (!at_once) status = leafid_tag_next(tag, &ids[i]);
        if (used + 24 < room) used += (size_t)snprintf(answer + used, room - used, "%" PRId64 " ", ids[i]);
    }
    free(ids);
    return status;
}

static leafid_status run(leafid_tag *tag, long long ms, long long pause_us, char *answer, size_t room) {
    long long end = now_us() + ms * 1000, slowest = 0, count = 0;
    int64_t first = 0, last = 0, id;
    int rising = 1;
    while (now_us() < end) {
        long long begun = now_us();
        leafid_status status = leafid_tag_next(tag, &id);
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

static leafid_status stats_of(leafid_tag *tag, char *answer, size_t room) {
    leafid_tag_stats_t stats;
    leafid_status status = leafid_tag_stats(tag, &stats, sizeof stats);
    if (status == LEAFID_OK)
        snprintf(answer, room, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRId64, stats.left, stats.fetches,
                 stats.failures, stats.waits, stats.step);
    return status;
}

static leafid_status obey(int count, char **words, char *answer, size_t room) {
    *answer = 0;
    if (!strcmp(words[0], "open")) return open_segments(count, words, &opened[words[1][0] % HANDLES]);
    if (!strcmp(words[0], "close")) return close_segments(words[1][0]);
    if (!strcmp(words[0], "rounds")) return rounds(atoll(words[1]), count, words, answer, room);
    long long first = count > 3 ? atoll(words[3]) : 1, second = count > 4 ? atoll(words[4]) : 0;
    leafid_tag *tag;
    leafid_status status = tag_of(words[1][0], words[2], &tag);
    if (status != LEAFID_OK) return status;
    if (!strcmp(words[0], "next")) return take(tag, 0, first, answer, room);
    if (!strcmp(words[0], "take")) return take(tag, 1, first, answer, room);
    if (!strcmp(words[0], "run")) return run(tag, first, second, answer, room);
    if (!strcmp(words[0], "stats")) return stats_of(tag, answer, room);
    fprintf(stderr, "unknown command %s\n", words[0]);
    exit(2);
}

int segments_serve(void) {
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

int segments_stream(int count, char **words) {
    long long begun = now_us();
    leafid_segments *segments;
    leafid_tag *tag;
    int64_t ids[BATCH];
    if (open_segments(count, words, &segments) != LEAFID_OK) fail();
    long long opened_us = now_us() - begun;
    if (leafid_segments_tag(segments, option(count, words, "tag", "order"), &tag) != LEAFID_OK) fail();
    if (leafid_tag_next(tag, ids) != LEAFID_OK) fail();
    put(ids, 1);
    fprintf(stderr, "ready %d 0 %lld %lld 0\n", (int)getpid(), opened_us, now_us() - begun);
    long long left = atoll(option(count, words, "count", "0")), batch = atoll(option(count, words, "batch", "512"));
    long long pause_us = atoll(option(count, words, "pause_us", "0"));
    const char *method = option(count, words, "method", "next");
    for (left = left ? left : -1; left != 0;) {
        size_t n = batch > BATCH ? BATCH : (size_t)batch;
        if (left > 0 && (size_t)left < n) n = (size_t)left;
        if (strcmp(method, "next")) {
            if (leafid_tag_fill(tag, ids, n) != LEAFID_OK) fail();
        } else {
            for (size_t i = 0; i < n; i++)
                if (leafid_tag_next(tag, &ids[i]) != LEAFID_OK) fail();
        }
        put(ids, n);
        if (left > 0) left -= (long long)n;
        if (pause_us) usleep((useconds_t)pause_us);
    }
    if (!strcmp(option(count, words, "then", "wait"), "wait"))
        for (;;) pause();
    if (leafid_segments_close(segments) != LEAFID_OK) fail();
    return 0;
}
