/* Ids without an operating system's help: the clock and one durable number are the program's own. Here both come from
   POSIX; in firmware they are a clock chip and a word of flash. `make test OF=c-core` runs it. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "leafid_core.h"

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv) {
    char why[200] = "";
    uint64_t from;
    leafid_core_generator *generator;
    leafid_core_span span;
    int64_t id, begun = now_ms();
    int file = open(argc > 1 ? argv[1] : "until", O_RDWR | O_CREAT, 0600), issued = 0;

    /* The end of the last span; a new worker id begins now. */
    if (file < 0) return 1;
    if (pread(file, &from, sizeof from, 0) != sizeof from &&
        leafid_core_tick_at(NULL, begun, &from, why, sizeof why) != LEAFID_CORE_OK) goto failed;
    if (leafid_core_generator_new(NULL, NULL, 7, from, 0, &generator, why, sizeof why) != LEAFID_CORE_OK) goto failed;
    while (issued < 10) {
        leafid_core_status status = leafid_core_generator_next(generator, now_ms(), &id, NULL, why, sizeof why);
        if (status == LEAFID_CORE_NEED_SPAN) {
            status = leafid_core_generator_next_span(generator, now_ms(), now_ms() - begun, &span, why, sizeof why);
            if (status == LEAFID_CORE_OK) {
                /* Durable first, then granted. */
                if (pwrite(file, &span.until, sizeof span.until, 0) != sizeof span.until || fsync(file) != 0) return 1;
                status = leafid_core_generator_grant(generator, &span, why, sizeof why);
            }
        } else if (status == LEAFID_CORE_OK) {
            issued += printf("%" PRId64 "\n", id) > 0;
        }
        if (status == LEAFID_CORE_WAIT) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        else if (status != LEAFID_CORE_OK) goto failed;
    }
    leafid_core_generator_free(generator);
    return 0;
failed:
    fprintf(stderr, "%s\n", why);
    return 1;
}
