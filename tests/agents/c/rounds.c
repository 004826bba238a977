/* Open and close, fork, many times in one go: agent.h says what for. */
#define _GNU_SOURCE
#include "agent.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

leafid_status open_and_close(long long rounds, int count, char **words, char *answer, size_t room) {
    int64_t id = 0, last = 0;
    bool rising = true;
    for (long long i = 0; i < rounds; i++) {
        handle opened = {0};
        source of;
        leafid_status status = open_handle(count, words, &opened);
        if (status == LEAFID_OK) status = source_of(&opened, "order", &of);
        if (status == LEAFID_OK) status = next_id(of, &id);
        if (status == LEAFID_OK) status = close_handle(&opened);
        free_handle(&opened);
        if (status != LEAFID_OK) return status;
        rising = rising && id > last;
        last = id;
    }
    snprintf(answer, room, "%lld %s", rounds, rising ? "true" : "false");
    return LEAFID_OK;
}

static int by_value(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

leafid_status forks(source of, long long count, char *answer, size_t room) {
    int64_t *ids = malloc(2 * (size_t)count * sizeof *ids);
    long long made = 0, distinct = 0, failed = 0;
    leafid_status status = LEAFID_OK;
    for (long long i = 0; ids && i < count && status == LEAFID_OK; i++) {
        int ends[2], ended = 1;
        if (pipe2(ends, O_CLOEXEC)) abort();
        pid_t pid = fork();
        if (pid == 0) {
            int64_t id;
            exit(next_id(of, &id) != LEAFID_OK || write(ends[1], &id, sizeof id) != sizeof id);
        }
        close(ends[1]);
        int told = read(ends[0], &ids[made], sizeof *ids) == sizeof *ids;
        close(ends[0]);
        waitpid(pid, &ended, 0);
        if (told && !ended)
            made++;
        else
            failed++;
        status = next_id(of, &ids[made]);
        made += status == LEAFID_OK;
    }
    if (ids) qsort(ids, (size_t)made, sizeof *ids, by_value);
    for (long long i = 0; i < made; i++) distinct += i == 0 || ids[i] != ids[i - 1];
    free(ids);
    snprintf(answer, room, "%lld %lld %lld", made, distinct, failed);
    return status;
}
