/* What words describe is opened here: snowflakes and segments, and ids from either. */
#define _GNU_SOURCE
#include "agent.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* The text up to the separator, which is cut there; *rest continues behind it, NULL at the end. */
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

static leafid_status open_flake(int count, char **words, leafid_snowflake **out) {
    static const struct {
        const char *key;
        leafid_status (*set)(leafid_snowflake_options *, int64_t);
    } numbers[] = {
        {"timeout_ms", leafid_snowflake_options_set_timeout_ms},
        {"request_timeout_ms", leafid_snowflake_options_set_request_timeout_ms},
        {"connect_timeout_ms", leafid_snowflake_options_set_connect_timeout_ms},
        {"max_backwards_ms", leafid_snowflake_options_set_max_backwards_ms},
        {"random_start", leafid_snowflake_options_set_random_start},
    };
    static const struct {
        const char *key;
        leafid_status (*set)(leafid_snowflake_options *, const char *);
    } texts[] = {
        {"worker", leafid_snowflake_options_set_worker},
        {"name", leafid_snowflake_options_set_name},
        {"dir", leafid_snowflake_options_set_state_dir},
        {"token", leafid_snowflake_options_set_token},
        {"ca_file", leafid_snowflake_options_set_ca_file},
    };
    leafid_snowflake_options *options;
    leafid_status status = leafid_snowflake_options_new(&options);
    if (status != LEAFID_OK) return status;
    const char *text;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((text = option(count, words, numbers[i].key, NULL))) numbers[i].set(options, atoll(text));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if ((text = option(count, words, texts[i].key, NULL))) texts[i].set(options, text);
    if ((text = option(count, words, "on_clock_backwards", NULL)))
        leafid_snowflake_options_set_on_clock_backwards(
            options, !strcmp(text, "wait") ? LEAFID_ON_CLOCK_BACKWARDS_WAIT : LEAFID_ON_CLOCK_BACKWARDS_CONTINUE);
    status = leafid_snowflake_open(options, out);
    leafid_snowflake_options_free(options);
    return status;
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

leafid_status open_handle(int count, char **words, handle *out) {
    handle opened = {0};
    leafid_status status = option(count, words, "worker", NULL) ? open_flake(count, words, &opened.flake)
                                                                : open_segments(count, words, &opened.segments);
    if (status == LEAFID_OK) {
        free_handle(out);
        *out = opened;
    }
    return status;
}

static void free_tags(handle *of) {
    for (int i = 0; i < TAGS; i++) {
        leafid_tag_free(of->tags[i].tag);
        of->tags[i].tag = NULL;
    }
}

leafid_status close_handle(handle *of) {
    free_tags(of);
    return of->flake ? leafid_snowflake_close(of->flake) : leafid_segments_close(of->segments);
}

void free_handle(handle *of) {
    free_tags(of);
    leafid_snowflake_free(of->flake);
    leafid_segments_free(of->segments);
    *of = (handle){0};
}

leafid_status worker_of(const handle *of, uint32_t *worker) {
    *worker = 0;
    return of->flake ? leafid_snowflake_worker_id(of->flake, worker) : LEAFID_OK;
}

leafid_status source_of(handle *of, const char *name, source *out) {
    *out = (source){of->flake, NULL};
    if (of->flake) return LEAFID_OK;
    int at = 0;
    while (at < TAGS - 1 && of->tags[at].tag && strcmp(of->tags[at].name, name)) at++;
    snprintf(of->tags[at].name, sizeof of->tags[at].name, "%s", name);
    leafid_tag **tag = &of->tags[at].tag;
    leafid_status status = *tag ? LEAFID_OK : leafid_segments_tag(of->segments, name, tag);
    out->tag = *tag;
    return status;
}

leafid_status next_id(source of, int64_t *id) {
    return of.tag ? leafid_tag_next(of.tag, id) : leafid_snowflake_next(of.flake, id);
}

leafid_status fill_ids(source of, int64_t *ids, size_t count) {
    return of.tag ? leafid_tag_fill(of.tag, ids, count) : leafid_snowflake_fill(of.flake, ids, count);
}
