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
