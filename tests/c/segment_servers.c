/* Segments from servers: what the options say reaches the wire. A server here speaks as much as is needed. */
#define _GNU_SOURCE
#include "counter.h"
#include "tags.inc"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    int listener;
    char url[64];
    pthread_t thread;
    /* The last request's head. */
    char head[4096];
    const char *tag;
    _Atomic int64_t next;
    atomic_int calls;
} server;

/* Reads a request's head, and its body where it has one: none of leafid's is long. */
static bool read_head(int client) {
    size_t length = 0;
    while (length + 1 < sizeof server.head) {
        ssize_t some = read(client, server.head + length, sizeof server.head - 1 - length);
        if (some <= 0) return false;
        length += (size_t)some;
        server.head[length] = '\0';
        if (strstr(server.head, "\r\n\r\n")) return true;
    }
    return false;
}

static void answer(int client) {
    char body[600], whole[900], quoted[300] = "", nonce[64] = "";
    long long step = 10;
    const char *at = strstr(server.head, "step=");
    if (at) sscanf(at, "step=%lld", &step);
    at = strstr(server.head, "nonce=");
    if (at) sscanf(at, "nonce=%63[0-9a-f]", nonce);
    for (const char *from = server.tag; *from; from++) {
        if (*from == '"' || *from == '\\') strncat(quoted, "\\", 2);
        strncat(quoted, from, 1);
    }
    int64_t start = atomic_fetch_add(&server.next, step);
    snprintf(body, sizeof body,
             "{\"tag\":\"%s\",\"start\":\"%lld\",\"end\":\"%lld\",\"stride\":1,\"step\":%lld,\"nonce\":\"%s\"}", quoted,
             (long long)start, (long long)start + step, step, nonce);
    int length = snprintf(whole, sizeof whole,
                          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
                          "Connection: close\r\n\r\n%s", strlen(body), body);
    CHECK(write(client, whole, (size_t)length) == length);
}

static void *serve(void *unused) {
    (void)unused;
    for (;;) {
        int client = accept(server.listener, NULL, NULL);
        if (client < 0) return NULL;
        if (read_head(client)) {
            answer(client);
            atomic_fetch_add(&server.calls, 1);
        }
        close(client);
    }
}

static void start_server(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    server.listener = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(server.listener >= 0 && bind(server.listener, (struct sockaddr *)&address, length) == 0);
    REQUIRE(listen(server.listener, 16) == 0);
    REQUIRE(getsockname(server.listener, (struct sockaddr *)&address, &length) == 0);
    snprintf(server.url, sizeof server.url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    server.tag = "order";
    atomic_store(&server.next, 1);
    atomic_store(&server.calls, 0);
    REQUIRE(pthread_create(&server.thread, NULL, serve, NULL) == 0);
}

static void end_server(void) {
    shutdown(server.listener, SHUT_RDWR);
    pthread_join(server.thread, NULL);
    close(server.listener);
}

static leafid_segments_options *served(void) {
    leafid_segments_options *options;
    REQUIRE_OK(leafid_segments_options_new(&options));
    CHECK_STATUS(leafid_segments_options_set_name(options, fresh_name()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_state_dir(options, fresh_dir()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_protocol(options, LEAFID_PROTOCOL_RANGE), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_adaptive(options, 0), LEAFID_OK);
    return options;
}

static void on_the_wire(void) {
    leafid_segments_options *options = served();
    leafid_segments *segments;
    start_server();
    CHECK_STATUS(leafid_segments_options_add_server(options, server.url), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_step(options, 25), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_token(options, "open-sesame"), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_header(options, "X-Shop", "7"), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_header(options, "X-Till", "b 2"), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_connections(options, 1), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &segments));
    leafid_segments_options_free(options);
    for (size_t i = 0; i < sizeof tag_names / sizeof *tag_names; i++) {
        char line[600];
        leafid_tag *tag;
        int64_t id = -1, first = atomic_load(&server.next);
        if (tag_names[i].refused) continue;
        server.tag = tag_names[i].name;
        REQUIRE_OK(leafid_segments_tag(segments, tag_names[i].name, &tag));
        CHECK_STATUS(leafid_tag_next(tag, &id), LEAFID_OK);
        CHECK_NUMBER(id, first);
        CHECK_NUMBER((int64_t)stats_of(tag).left, 24);
        snprintf(line, sizeof line, "POST /api/segment/range/%s?step=25&after=0&nonce=", tag_names[i].path);
        if (!CHECK(strncmp(server.head, line, strlen(line)) == 0)) fprintf(stderr, "%s\nnot %s\n", server.head, line);
        leafid_tag_free(tag);
    }
    CHECK(strcasestr(server.head, "\r\nauthorization: Bearer open-sesame\r\n") != NULL);
    CHECK(strcasestr(server.head, "\r\nx-shop: 7\r\n") != NULL);
    CHECK(strcasestr(server.head, "\r\nx-till: b 2\r\n") != NULL);
    leafid_segments_free(segments);
    end_server();
}

/* Of several servers one that is there is asked; of none, the error names each URL. */
static void several(void) {
    leafid_segments_options *options = served();
    leafid_segments *segments;
    leafid_tag *tag;
    int64_t id = 42;
    char nobody[64];
    start_server();
    /* Where nobody listens any more. */
    snprintf(nobody, sizeof nobody, "%s", server.url);
    end_server();
    start_server();
    CHECK_STATUS(leafid_segments_options_add_server(options, nobody), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, 10000), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &segments));
    REQUIRE_OK(leafid_segments_tag(segments, "order", &tag));
    await_failure(tag);
    CHECK_STATUS(leafid_tag_next_within(tag, 60, &id), LEAFID_SEGMENT_UNAVAILABLE);
    CHECK_SAYS(nobody);
    CHECK_NUMBER(id, 42);
    leafid_tag_free(tag);
    leafid_segments_free(segments);

    CHECK_STATUS(leafid_segments_options_add_server(options, server.url), LEAFID_OK);
    tag = counter_open(options, &segments);
    CHECK_STATUS(leafid_tag_next(tag, &id), LEAFID_OK);
    CHECK_NUMBER(id, 1);
    CHECK_NUMBER(atomic_load(&server.calls), 1);
    leafid_tag_free(tag);
    leafid_segments_free(segments);
    end_server();
}

int main(void) {
    test("options of servers reach the wire", on_the_wire);
    test("several servers", several);
    return finish();
}
