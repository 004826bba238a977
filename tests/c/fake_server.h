/* The fake server for servers (tests/fake_servers), a process of its own that misbehaves on command. */
#ifndef LEAFID_TESTS_FAKE_SERVER_H
#define LEAFID_TESTS_FAKE_SERVER_H

#include "check.h"

#include <stdio.h>

struct fake_server {
    pid_t pid;
    int port;
    char url[64];
    FILE *told, *says;
    /* The last answer. */
    char *answer;
    size_t room;
};

/* Starts one, with options of its own: names and values, up to a NULL. It ends by itself with this program. */
void fake_server_start(struct fake_server *server, const char *const *options);
void fake_server_end(struct fake_server *server);
/* Tells it a command, and answers its answer, JSON that the next one overwrites. An error fails the test. */
const char *say_to(struct fake_server *server, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The number that follows `"name": ` in an answer; -1 where there is none. */
long long number_in(const char *answer, const char *name);

/* What the report says of a tag, or of "claim", "renew" or "release": as `total`. 0 for what was never asked. */
long long reported(struct fake_server *server, const char *tag, const char *what);

#endif
