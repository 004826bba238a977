#define _GNU_SOURCE
#include "fake_server.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <io.h>
#include <winsock2.h>
#else
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#define MOST_OPTIONS 16

static bool next_line(struct fake_server *server) {
    size_t length = 0;
    do {
        if (server->room < length + 2) {
            server->room = length * 2 + 4096;
            server->answer = realloc(server->answer, server->room);
            REQUIRE(server->answer != NULL);
        }
        if (!fgets(server->answer + length, (int)(server->room - length), server->says)) break;
        length += strlen(server->answer + length);
    } while (server->answer[length - 1] != '\n');
    return CHECK(length > 0);
}

#ifdef _WIN32
/* Under wine the server is a program of Linux, whose pipes are not ours: tests/cross/windows_c.py starts it, and puts a
   connection in place of them. */
static void start(struct fake_server *server, const char *const *options) {
    const char *port = getenv("LEAFID_TEST_FAKE_SERVERS");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    WSADATA unused;
    REQUIRE(port && WSAStartup(MAKEWORD(2, 2), &unused) == 0);
    address.sin_port = htons((uint16_t)atoi(port));
    /* Not `socket`, whose connections the C library cannot read. */
    SOCKET socket = WSASocketA(AF_INET, SOCK_STREAM, 0, NULL, 0, 0);
    REQUIRE(connect(socket, (struct sockaddr *)&address, sizeof address) == 0);
    int file = _open_osfhandle((intptr_t)socket, 0);
    server->told = fdopen(file, "wb");
    server->says = fdopen(dup(file), "rb");
    REQUIRE(server->told && server->says);
    for (size_t i = 0; options && options[i]; i++) fprintf(server->told, "%s ", options[i]);
    fputc('\n', server->told);
    REQUIRE(fflush(server->told) == 0);
}

/* The server ends with its input; when it has, so has the connection. */
static void end(struct fake_server *server) {
    shutdown((SOCKET)_get_osfhandle(fileno(server->told)), SD_SEND);
    while (fgets(server->answer, (int)server->room, server->says)) {
    }
}
#else
static void start(struct fake_server *server, const char *const *options) {
    const char *program = getenv("LEAFID_TEST_FAKE_SERVER"), *python = getenv("LEAFID_TEST_PYTHON");
    const char *arguments[MOST_OPTIONS] = {python, program, "--seconds", "900"};
    int in[2], out[2];
    REQUIRE(program && python);
    for (size_t i = 4; options && *options && i + 1 < MOST_OPTIONS; i++) arguments[i] = *options++;
    REQUIRE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    fflush(NULL);
    server->pid = fork();
    REQUIRE(server->pid >= 0);
    if (server->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execv(python, (char *const *)arguments);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    server->told = fdopen(in[1], "w");
    server->says = fdopen(out[0], "r");
    REQUIRE(server->told && server->says);
}

static void end(struct fake_server *server) {
    if (server->pid <= 0) return;
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
}
#endif

void fake_server_start(struct fake_server *server, const char *const *options) {
    *server = (struct fake_server){.pid = -1};
    start(server, options);
    REQUIRE(next_line(server) && sscanf(server->answer, "listening %d", &server->port) == 1);
    REQUIRE(next_line(server));
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d", server->port);
}

void fake_server_end(struct fake_server *server) {
    if (server->says) end(server);
    if (server->told) fclose(server->told);
    if (server->says) fclose(server->says);
    free(server->answer);
    *server = (struct fake_server){.pid = -1};
}

const char *say_to(struct fake_server *server, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(server->told, format, values);
    va_end(values);
    fputc('\n', server->told);
    REQUIRE(fflush(server->told) == 0);
    REQUIRE(next_line(server));
    if (!CHECK(strncmp(server->answer, "{\"error\"", 8) != 0)) fprintf(stderr, "%s", server->answer);
    return server->answer;
}

long long number_in(const char *answer, const char *name) {
    char key[64];
    snprintf(key, sizeof key, "\"%s\": ", name);
    const char *at = strstr(answer, key);
    return at ? atoll(at + strlen(key)) : -1;
}

long long reported(struct fake_server *server, const char *tag, const char *what) {
    char key[160];
    snprintf(key, sizeof key, "\"%s\": {", tag);
    const char *tags = strstr(say_to(server, "{\"do\": \"report\", \"requests\": 0}"), "\"tags\": ");
    const char *at = tags ? strstr(tags, key) : NULL;
    return at ? number_in(at, what) : 0;
}

void leaf_start(struct leaf *leaf) {
    for (int i = 0; i < 2; i++) {
        const char *options[] = {"--leaf-worker-id", i ? "2" : "1", "--first", i ? "1000000001" : "1", NULL};
        fake_server_start(&leaf->nodes[i], options);
    }
}

void leaf_end(struct leaf *leaf) {
    for (int i = 0; i < 2; i++) fake_server_end(&leaf->nodes[i]);
}

struct run {
    long long start, end;
};

size_t leaf_not_given(struct leaf *leaf, const char *tag, const char *mode, const struct ids *ids) {
    struct run *runs = NULL;
    size_t count = 0, room = 0, strangers = 0;
    for (int i = 0; i < 2; i++) {
        const char *at = say_to(&leaf->nodes[i], "{\"do\": \"given\", \"tag\": \"%s\", \"mode\": \"%s\"}", tag, mode);
        for (; (at = strstr(at, "[\"")); at += 2) {
            if (count == room) {
                room = room ? room * 2 : 64;
                runs = realloc(runs, room * sizeof *runs);
                if (!runs) abort();
            }
            CHECK(sscanf(at, "[\"%lld\", \"%lld\", 1]", &runs[count].start, &runs[count].end) == 2);
            count++;
        }
    }
    for (size_t i = 0; i < ids->count; i++) {
        bool given = false;
        for (size_t k = 0; k < count && !given; k++) {
            given = ids->items[i] >= runs[k].start && ids->items[i] < runs[k].end;
        }
        strangers += !given;
    }
    free(runs);
    return strangers;
}

/* Whether an answer is whole: the fake server says how long it is, and keeps the connection open. */
static bool is_whole(const char *text) {
    const char *end = strstr(text, "\r\n\r\n"), *length = strstr(text, "\r\nContent-Length:");
    return end && length && strlen(end + 4) >= strtoul(length + 17, NULL, 10);
}

int plain_request(int port, const char *method, const char *path, const char *body, char *answer, size_t room) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char text[4096], *end;
    size_t length = 0;
    int status = -1;
#ifdef _WIN32
    SOCKET at = socket(AF_INET, SOCK_STREAM, 0);
    DWORD limit = 10000;
#else
    int at = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct timeval limit = {10, 0};
#endif
    setsockopt(at, SOL_SOCKET, SO_RCVTIMEO, (const char *)&limit, sizeof limit);
    int wrote = snprintf(text, sizeof text,
                         "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                         "Content-Length: %zu\r\n\r\n%s", method, path, strlen(body), body);
    if (CHECK(connect(at, (struct sockaddr *)&address, sizeof address) == 0) &&
        CHECK(send(at, text, (size_t)wrote, 0) == wrote)) {
        ssize_t some;
        for (*text = '\0'; !is_whole(text) && (some = recv(at, text + length, sizeof text - 1 - length, 0)) > 0;) {
            length += (size_t)some;
            text[length] = '\0';
        }
        end = strstr(text, "\r\n\r\n");
        if (CHECK(end && sscanf(text, "HTTP/1.1 %d", &status) == 1) && answer) snprintf(answer, room, "%s", end + 4);
    }
#ifdef _WIN32
    closesocket(at);
#else
    close(at);
#endif
    return status;
}
