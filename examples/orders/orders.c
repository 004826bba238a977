/*
 * Order intake in C: one generator, used by two threads before and after a fork, in parent and child. Each process
 * makes COUNT orders and writes them to standard output.
 *
 *     orders COUNT SEED
 */
#include <inttypes.h>
#include <leafid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 2,
    /* As many orders as go out in one write. The kernel keeps a write of at most 4096 bytes to a pipe in one piece: the
       lines of the threads do not mix, and a process that is killed leaves no half line. */
    BATCH = 50,
    LINE = 80
};

static const int PRICES[8] = {249, 499, 899, 1290, 1999, 4950, 12900, 39900};

typedef struct {
    leafid_snowflake *flake;
    int count;
    unsigned seed;
    int in_batches;
} share;

static void check(leafid_status status) {
    if (status == LEAFID_OK) return;
    char text[512];
    leafid_last_error(text, sizeof text);
    fprintf(stderr, "%s\n", text);
    _exit(1);
}

/* Marsaglia's xorshift of 32 bits: the same seed gives the same orders. The seed is not 0. */
static unsigned below(unsigned *seed, unsigned end) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed % end;
}

static int write_order(char *line, int64_t id, unsigned *seed) {
    unsigned customer = 1 + below(seed, 200) * below(seed, 200);
    int amount_cents = PRICES[below(seed, 8)] * (int)(1 + below(seed, 4));
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t created_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return snprintf(line, LINE, "%d\t%" PRId64 "\tC-%05u\t%d\t%" PRId64 "\n", (int)getpid(), id, customer, amount_cents,
                    created_ms);
}

static void *make_orders(void *argument) {
    share mine = *(share *)argument;
    for (int done = 0; done < mine.count; done += BATCH) {
        int n = mine.count - done < BATCH ? mine.count - done : BATCH;
        int64_t ids[BATCH];
        if (mine.in_batches) {
            check(leafid_snowflake_fill(mine.flake, ids, (size_t)n));
        } else {
            for (int i = 0; i < n; i++) check(leafid_snowflake_next(mine.flake, &ids[i]));
        }
        char lines[BATCH * LINE];
        int length = 0;
        for (int i = 0; i < n; i++) length += write_order(lines + length, ids[i], &mine.seed);
        if (write(1, lines, (size_t)length) != length) {
            perror("orders");
            _exit(1);
        }
    }
    return NULL;
}

static void run_threads(leafid_snowflake *flake, int count, unsigned seed) {
    pthread_t threads[THREADS];
    share shares[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){flake, (count + i) / THREADS, THREADS * seed + (unsigned)i + 1, i % 2};
        if (pthread_create(&threads[i], NULL, make_orders, &shares[i]) != 0) _exit(1);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: orders COUNT SEED\n");
        return 2;
    }
    int count = atoi(argv[1]), before = count / 10;
    unsigned seed = (unsigned)atoi(argv[2]);
    leafid_snowflake_options *options;
    leafid_snowflake *flake;
    check(leafid_snowflake_options_new(&options));
    leafid_snowflake_options_set_worker_range(options, 0, 31);
    leafid_snowflake_options_set_name(options, "orders");
    check(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);

    run_threads(flake, before, 2 * seed);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 1;
    }
    /* The handle serves the child as well: its first id claims a worker id of the child's own. */
    run_threads(flake, child == 0 ? count : count - before, 3 * seed + (child == 0));
    check(leafid_snowflake_close(flake));
    leafid_snowflake_free(flake);

    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) != child) return 1;
    return status == 0 ? 0 : 1;
}
