/* The agent in C of ../../scenarios/play.py, which lists its commands. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <leafid.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROOM = 8192, CALLS = 256, HANDLES = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
/* The answer of each call, a line. */
static char *answers[CALLS];
static int calls;

typedef struct {
    char name[32];
    leafid_snowflake *flake;
    leafid_segments *segments;
} handle;
static handle handles[HANDLES];
/* Takes that ended. */
static atomic_int ended;

/* Lines are as Python's json writes them; no text of a scenario has a quote. */
static const char *find(const char *line, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) : NULL;
}

static int64_t number(const char *line, const char *key, int64_t without) {
    const char *at = find(line, key);
    return at && strncmp(at, "null", 4) ? atoll(at) : without;
}

/* The text that begins at a quote; where it ends. */
static const char *copy(const char *at, char *out, size_t room) {
    size_t length = strcspn(++at, "\"");
    snprintf(out, room, "%.*s", (int)length, at);
    return at + length + 1;
}

static const char *text(const char *line, const char *key, char *out, size_t room) {
    const char *at = find(line, key);
    *out = 0;
    if (!at || *at != '"') return NULL;
    copy(at, out, room);
    return out;
}

static void put_text(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
    putchar('"');
}

/* Says a line: of the format `%s` is a text that is quoted here, and `%d` an int64_t. */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    va_list values;
    va_start(values, format);
    flockfile(stdout);
    for (; *format; format++) {
        if (*format != '%')
            putchar(*format);
        else if (*++format == 's')
            put_text(va_arg(values, const char *));
        else
            printf("%" PRId64, va_arg(values, int64_t)), format += strlen(PRId64) - 1;
    }
    putchar('\n');
    fflush(stdout);
    funlockfile(stdout);
    va_end(values);
}

static void say_status(const char *is, const char *who, const char *name, leafid_status status, const char *more) {
    char said[2048];
    leafid_last_error(said, sizeof said);
    const char *code = leafid_status_name(status), *message = strstr(said, ": ");
    flockfile(stdout);
    printf("{\"is\": \"%s\", \"%s\": \"%s\"", is, who, name);
    if (status != LEAFID_OK) {
        printf(", \"code\": \"%s\", \"text\": ", code);
        put_text(message ? message + 2 : said);
    } else {
        fputs(more, stdout);
    }
    puts("}");
    fflush(stdout);
    funlockfile(stdout);
}

static void on_log(void *user_data, int32_t level, const char *message) {
    (void)user_data;
    say("{\"is\": \"log\", \"level\": %s, \"text\": %s}", level == LEAFID_LOG_WARN ? "warn" : "info", message);
}

static int next_call(void) {
    pthread_mutex_lock(&lock);
    int call = calls++;
    pthread_mutex_unlock(&lock);
    return call;
}

/* The player's answer: whether it gives something is left to the caller. */
static const char *answer_of(int call) {
    pthread_mutex_lock(&lock);
    while (!answers[call]) pthread_cond_wait(&answered, &lock);
    pthread_mutex_unlock(&lock);
    return answers[call];
}

/* What a call that fails returns, with its text; LEAFID_OK if the answer gives something, `nothing` if it gives null. */
static int status_of(const char *line, leafid_status nothing, char *error, size_t cap) {
    char code[64];
    if (text(line, "fails", error, cap)) return -1;
    if (text(line, "code", code, sizeof code)) {
        text(line, "text", error, cap);
        for (int status = 1; status < 64; status++)
            if (!strcmp(leafid_status_name(status), code)) return status;
    }
    return strncmp(find(line, "gives"), "null", 4) ? LEAFID_OK : nothing;
}

static int fetch(void *user_data, const char *tag, int64_t step, leafid_segment *out, char *error, size_t cap) {
    int call = next_call();
    say("{\"is\": \"asks\", \"call\": %" PRId64 ", \"handle\": %s, \"asks\": \"fetch\", \"sent\": {\"tag\": %s, \"step\": %" PRId64
        ", \"after\": %" PRId64 "}}", (int64_t)call, (char *)user_data, tag, step, out->after);
    const char *line = answer_of(call);
    int status = status_of(line, LEAFID_UNKNOWN_TAG, error, cap);
    if (status != LEAFID_OK) return status;
    out->start = number(line, "start", 0);
    out->end = number(line, "end", 0);
    out->stride = number(line, "stride", 0);
    return LEAFID_OK;
}

static int ask_claim(void *user_data, const char *name, int64_t previous, int64_t now_ms, int64_t until_ms) {
    char shown[32] = "null";
    int call = next_call();
    if (previous >= 0) snprintf(shown, sizeof shown, "%d", (int)previous);
    flockfile(stdout);
    printf("{\"is\": \"asks\", \"call\": %d, \"handle\": \"%s\", \"asks\": \"claim\", \"sent\": {\"name\": \"%s\", \"previous\": %s, "
           "\"now_ms\": %" PRId64 ", \"until_ms\": %" PRId64 "}}\n", call, (char *)user_data, name, shown, now_ms, until_ms);
    fflush(stdout);
    funlockfile(stdout);
    return call;
}

static int claim_id(void *user_data, const char *name, int64_t previous, int64_t *worker_id, char *error, size_t cap) {
    const char *line = answer_of(ask_claim(user_data, name, previous, 0, 0));
    *worker_id = number(line, "gives", -1);
    return status_of(line, LEAFID_WORKER_IN_USE, error, cap);
}

static int peer_times(void *user_data, int64_t *out, size_t cap, size_t *n, char *error, size_t error_cap) {
    int call = next_call();
    say("{\"is\": \"asks\", \"call\": %" PRId64 ", \"handle\": %s, \"asks\": \"peer_times\", \"sent\": {}}", (int64_t)call, (char *)user_data);
    const char *line = answer_of(call), *at = find(line, "gives");
    for (*n = 0; at && *at != ']' && at[1] != ']' && *n < cap; at = strpbrk(at + 1, ",]")) out[(*n)++] = atoll(at + 1);
    return status_of(line, LEAFID_OK, error, error_cap);
}

static int lent(const char *line, leafid_status nothing, leafid_lease *lease, char *error, size_t cap) {
    int status = status_of(line, nothing, error, cap);
    if (status != LEAFID_OK) return status;
    lease->worker_id = number(line, "worker_id", lease->worker_id);
    lease->from_ms = number(line, "from_ms", lease->from_ms);
    lease->until_ms = number(line, "until_ms", lease->until_ms);
    lease->lease_ms = number(line, "lease_ms", lease->lease_ms);
    if (find(line, "token")) text(line, "token", lease->token, sizeof lease->token);
    const char *peers = find(line, "peer_times_ms");
    for (; peers && *peers != ']'; peers = strpbrk(peers + 1, ",]")) lease->peer_times_ms[lease->peers++] = atoll(peers + 1);
    return LEAFID_OK;
}

static int claim(void *user_data, const leafid_claim_request *request, leafid_lease *lease, char *error, size_t cap) {
    int call = ask_claim(user_data, request->name, request->previous, request->now_ms, request->until_ms);
    return lent(answer_of(call), LEAFID_WORKER_IN_USE, lease, error, cap);
}

static const char *ask_lessor(void *user_data, const char *asks, const leafid_lease *lease, int64_t until_ms) {
    int call = next_call();
    say("{\"is\": \"asks\", \"call\": %" PRId64 ", \"handle\": %s, \"asks\": %s, \"sent\": {\"worker_id\": %" PRId64 ", \"token\": %s, "
        "\"until_ms\": %" PRId64 "}}", (int64_t)call, (char *)user_data, asks, lease->worker_id, lease->token, until_ms);
    return answer_of(call);
}

static int renew(void *user_data, leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    return lent(ask_lessor(user_data, "renew", lease, until_ms), LEAFID_WORKER_LOST, lease, error, cap);
}

static int release(void *user_data, const leafid_lease *lease, int64_t until_ms, char *error, size_t cap) {
    return status_of(ask_lessor(user_data, "release", lease, until_ms), LEAFID_OK, error, cap);
}

static int32_t word(const char *value) {
    static const struct {
        const char *name;
        int32_t value;
    } words[] = {
        {"true", 1}, {"false", 0}, {"range", LEAFID_PROTOCOL_RANGE}, {"leaf", LEAFID_PROTOCOL_LEAF},
        {"leaf-snowflake", LEAFID_PROTOCOL_LEAF_SNOWFLAKE}, {"tinyid", LEAFID_PROTOCOL_TINYID},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(value, words[i].name, strlen(words[i].name)) && !strchr("-", value[strlen(words[i].name)])) return words[i].value;
    return -1;
}

#define TEXT(of, option) \
    if (text(line, #option, value, sizeof value)) status = leafid_##of##_options_set_##option(options, value)
#define NUMBER(of, option) \
    if (find(line, #option)) status = leafid_##of##_options_set_##option(options, number(line, #option, 0))
#define WORD(of, option) \
    if (find(line, #option)) \
    status = leafid_##of##_options_set_##option(options, word(find(line, #option) + (*find(line, #option) == '"')))
#define HEADERS(of) \
    for (const char *at = find(line, "headers"); at && *at != '}'; at += strncmp(at, ", ", 2) ? 0 : 2) { \
        char header[64]; \
        at = copy(at + (*at == '{'), header, sizeof header); \
        at = copy(at + strlen(": "), value, sizeof value); \
        status = leafid_##of##_options_add_header(options, header, value); \
    }

/* Each text of a list, or the one text. */
static void each(const char *at, leafid_segments_options *options, leafid_status (*add)(leafid_segments_options *, const char *)) {
    char value[ROOM];
    for (at = *at == '[' ? at + 1 : at; *at == '"'; at += strncmp(at, ", ", 2) ? 0 : 2) {
        at = copy(at, value, sizeof value);
        if (add(options, value) != LEAFID_OK) return;
    }
}

static leafid_status open_segments(handle *its, const char *line) {
    leafid_segments_options *options;
    leafid_status status = leafid_segments_options_new(&options);
    char value[ROOM];
    TEXT(segments, name);
    TEXT(segments, state_dir);
    TEXT(segments, token);
    NUMBER(segments, step);
    NUMBER(segments, prefetch);
    NUMBER(segments, timeout_ms);
    NUMBER(segments, request_timeout_ms);
    NUMBER(segments, connect_timeout_ms);
    NUMBER(segments, connections);
    NUMBER(segments, block_size);
    WORD(segments, persist);
    WORD(segments, adaptive);
    WORD(segments, keep_unused);
    WORD(segments, ordered_source);
    WORD(segments, protocol);
    HEADERS(segments)
    if (find(line, "fetch")) status = leafid_segments_options_set_fetch(options, fetch, its->name, NULL);
    if (find(line, "servers")) each(find(line, "servers"), options, leafid_segments_options_add_server);
    if (find(line, "prewarm")) each(find(line, "prewarm"), options, leafid_segments_options_add_prewarm);
    if (status == LEAFID_OK) status = leafid_segments_open(options, &its->segments);
    leafid_segments_options_free(options);
    return status;
}

static leafid_status open_flake(handle *its, const char *line) {
    static const leafid_worker_leases leases = {sizeof leases, claim, renew, release};
    leafid_snowflake_options *options;
    leafid_status status = leafid_snowflake_options_new(&options);
    char value[ROOM];
    TEXT(snowflake, name);
    TEXT(snowflake, state_dir);
    TEXT(snowflake, layout);
    TEXT(snowflake, token);
    NUMBER(snowflake, timeout_ms);
    NUMBER(snowflake, request_timeout_ms);
    NUMBER(snowflake, connect_timeout_ms);
    NUMBER(snowflake, random_start);
    NUMBER(snowflake, no_record_wait_ms);
    WORD(snowflake, persist);
    HEADERS(snowflake)
    if (find(line, "peer_times")) status = leafid_snowflake_options_set_peer_times(options, peer_times, its->name, NULL);
    const char *worker = find(line, "worker");
    if (!strncmp(worker, "\"<leases>", 9)) {
        status = leafid_snowflake_options_set_worker_leases(options, &leases, its->name, NULL);
    } else if (!strncmp(worker, "\"<function>", 11)) {
        status = leafid_snowflake_options_set_worker_callback(options, claim_id, its->name, NULL);
    } else if (*worker == '"') {
        copy(worker, value, sizeof value);
        status = leafid_snowflake_options_set_worker(options, value);
    } else if (*worker == '[') {
        /* Servers, which are one text here. */
        size_t length = strcspn(worker + 1, "]");
        char *end = value;
        for (size_t i = 0; i < length; i++)
            if (!strchr("\" ", worker[i + 1])) *end++ = worker[i + 1];
        *end = 0;
        status = leafid_snowflake_options_set_worker(options, value);
    } else {
        status = leafid_snowflake_options_set_worker_id(options, atoll(worker));
    }
    if (status == LEAFID_OK) status = leafid_snowflake_open(options, &its->flake);
    leafid_snowflake_options_free(options);
    return status;
}

static handle *handle_of(const char *line) {
    char name[32];
    text(line, "handle", name, sizeof name);
    for (handle *its = handles;; its++) {
        if (!*its->name) strcpy(its->name, name);
        if (!strcmp(its->name, name)) return its;
    }
}

static void open_it(const char *line) {
    handle *its = handle_of(line);
    uint32_t worker_id = 0;
    char more[64] = "";
    const char *options = find(line, "options");
    leafid_snowflake_free(its->flake);
    leafid_segments_free(its->segments);
    *its = (handle){0};
    text(line, "handle", its->name, sizeof its->name);
    leafid_status status = strstr(line, "\"of\": \"segments\"") ? open_segments(its, options) : open_flake(its, options);
    if (status == LEAFID_OK && its->flake) status = leafid_snowflake_worker_id(its->flake, &worker_id);
    if (its->flake) snprintf(more, sizeof more, ", \"worker_id\": %u", worker_id);
    say_status("opened", "handle", its->name, status, more);
}

static void take(const char *line) {
    handle *its = handle_of(line);
    char by[32], name[300];
    size_t count = (size_t)number(line, "count", 0);
    int64_t *ids = calloc(count + 1, sizeof *ids);
    leafid_tag *tag = NULL;
    leafid_status status = LEAFID_OK;
    bool is_try = strstr(line, "\"do\": \"try\"") != NULL;
    text(line, "by", by, sizeof by);
    if (its->segments) status = leafid_segments_tag(its->segments, text(line, "tag", name, sizeof name), &tag);
    if (is_try) count = 1;
    if (status == LEAFID_OK) {
        status = !tag ? leafid_snowflake_fill(its->flake, ids, count)
                 : is_try ? leafid_tag_try_next(tag, ids)
                          : leafid_tag_fill_within(tag, number(line, "timeout_ms", 0), ids, count);
    }
    char *more = malloc(32 + 24 * count), *end = more + sprintf(more, ", \"ids\": [");
    for (size_t i = 0; i < count; i++) end += sprintf(end, "%s%" PRId64, i ? ", " : "", ids[i]);
    strcpy(end, "]");
    say_status("got", "by", by, status, more);
    atomic_fetch_add(&ended, 1);
    leafid_tag_free(tag);
    free(more);
    free(ids);
}

static void close_it(const char *line) {
    handle *its = handle_of(line);
    leafid_status status = its->flake ? leafid_snowflake_close(its->flake) : leafid_segments_close(its->segments);
    say_status("closed", "handle", its->name, status, "");
}

/* How many wait for the tag of a line. */
static uint64_t waiting(const char *line) {
    handle *its = handle_of(line);
    char name[300];
    leafid_tag *tag;
    leafid_tag_stats_t stats = {0};
    if (!its->segments || leafid_segments_tag(its->segments, text(line, "tag", name, sizeof name), &tag) != LEAFID_OK) return 0;
    if (leafid_tag_stats(tag, &stats, sizeof stats) != LEAFID_OK) stats.waiting = 0;
    leafid_tag_free(tag);
    return stats.waiting;
}

static void stats(const char *line) {
    handle *its = handle_of(line);
    char name[300], last[2048] = "";
    if (its->segments) {
        leafid_tag *tag;
        leafid_tag_stats_t of = {0};
        if (leafid_segments_tag(its->segments, text(line, "tag", name, sizeof name), &tag) != LEAFID_OK) return;
        leafid_tag_stats(tag, &of, sizeof of);
        leafid_tag_last_error(tag, last, sizeof last, NULL);
        leafid_tag_free(tag);
        say("{\"is\": \"stats\", \"handle\": %s, \"fields\": {\"left\": %" PRId64 ", \"fetches\": %" PRId64 ", \"failures\": %" PRId64
            ", \"last_error\": %s}}", its->name, (int64_t)of.left, (int64_t)of.fetches, (int64_t)of.failures, last);
    } else {
        leafid_snowflake_stats_t of = {0};
        leafid_snowflake_stats(its->flake, &of, sizeof of);
        leafid_snowflake_last_error(its->flake, last, sizeof last, NULL);
        say("{\"is\": \"stats\", \"handle\": %s, \"fields\": {\"claims\": %" PRId64 ", \"lease_until_ms\": %" PRId64
            ", \"renewal_failures\": %" PRId64 ", \"last_error\": %s}}", its->name, (int64_t)of.claims,
            (int64_t)of.lease_until_ms, (int64_t)of.renewal_failures, last);
    }
}

static void *obey(void *given) {
    char *line = given, verb[16];
    text(line, "do", verb, sizeof verb);
    if (!strcmp(verb, "open")) open_it(line);
    if (!strcmp(verb, "take") || !strcmp(verb, "try")) take(line);
    if (!strcmp(verb, "close")) close_it(line);
    free(line);
    return NULL;
}

int main(void) {
    static char line[1 << 16];
    leafid_set_log(on_log, NULL, LEAFID_LOG_INFO);
    while (fgets(line, sizeof line, stdin)) {
        char verb[16], by[32];
        pthread_t thread;
        text(line, "do", verb, sizeof verb);
        if (!strcmp(verb, "stats")) {
            stats(line);
        } else if (!strcmp(verb, "sync")) {
            puts("{\"is\": \"synced\"}");
            fflush(stdout);
        } else if (!strcmp(verb, "answer")) {
            pthread_mutex_lock(&lock);
            answers[number(line, "call", 0)] = strdup(line);
            pthread_cond_broadcast(&answered);
            pthread_mutex_unlock(&lock);
        } else if (strcmp(verb, "leave")) {
            bool takes = !strcmp(verb, "take");
            uint64_t before = takes ? waiting(line) : 0;
            int ends = atomic_load(&ended);
            /* It may wait. */
            pthread_create(&thread, NULL, obey, strdup(line));
            pthread_detach(thread);
            if (!takes) continue;
            while (handle_of(line)->segments && waiting(line) <= before && atomic_load(&ended) == ends) usleep(1000);
            text(line, "by", by, sizeof by);
            say("{\"is\": \"begun\", \"by\": %s}", by);
        }
    }
    /* The player kills it. */
    return 0;
}
