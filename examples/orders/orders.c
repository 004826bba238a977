/*
 * Order intake in C: one generator, used by two threads before and after a fork, in parent and child. Each order has
 * an id, and a number among those of its shop, from segments of NUMBERS, which is file:DIR or the URLs of a Leaf with
 * commas between. Each process makes COUNT orders and writes them to standard output.
 *
 *     orders COUNT SEED NUMBERS SHOP...
 */
#include <inttypes.h>
#include <leafid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 2,
    /* As many orders as go out in one write. The kernel keeps a write of at most 4096 bytes to a pipe in one piece: the
       lines of the threads do not mix, and a process that is killed leaves no half line. */
    BATCH = 50,
    LINE = 80,
    SHOPS = 8
};

static const int PRICES[8] = {249, 499, 899, 1290, 1999, 4950, 12900, 39900};

/* What all threads share. */
static leafid_snowflake *flake;
static leafid_segments *segments;
static leafid_tag *shops[SHOPS];
static char **shop_names;
static unsigned shop_count;

typedef struct {
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

static int write_order(char *line, int64_t id, const char *shop, int64_t number, unsigned *seed) {
    unsigned customer = 1 + below(seed, 200) * below(seed, 200);
    int amount_cents = PRICES[below(seed, 8)] * (int)(1 + below(seed, 4));
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t created_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    return snprintf(line, LINE, "%d\t%" PRId64 "\t%s\t%" PRId64 "\tC-%05u\t%d\t%" PRId64 "\n", (int)getpid(), id, shop,
                    number, customer, amount_cents, created_ms);
}

static void *make_orders(void *argument) {
    share mine = *(share *)argument;
    for (int done = 0; done < mine.count; done += BATCH) {
        int n = mine.count - done < BATCH ? mine.count - done : BATCH;
        unsigned shop = below(&mine.seed, shop_count);
        int64_t ids[BATCH], numbers[BATCH];
        if (mine.in_batches) {
            check(leafid_snowflake_fill(flake, ids, (size_t)n));
            check(leafid_tag_fill(shops[shop], numbers, (size_t)n));
        } else {
            for (int i = 0; i < n; i++) check(leafid_snowflake_next(flake, &ids[i]));
            for (int i = 0; i < n; i++) check(leafid_tag_next(shops[shop], &numbers[i]));
        }
        char lines[BATCH * LINE];
        int length = 0;
        for (int i = 0; i < n; i++)
            length += write_order(lines + length, ids[i], shop_names[shop], numbers[i], &mine.seed);
        if (write(1, lines, (size_t)length) != length) {
            perror("orders");
            _exit(1);
        }
    }
    return NULL;
}

static void run_threads(int count, unsigned seed) {
    pthread_t threads[THREADS];
    share shares[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){(count + i) / THREADS, THREADS * seed + (unsigned)i + 1, i % 2};
        if (pthread_create(&threads[i], NULL, make_orders, &shares[i]) != 0) _exit(1);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

static void open_flake(void) {
    leafid_snowflake_options *options;
    check(leafid_snowflake_options_new(&options));
    leafid_snowflake_options_set_worker_range(options, 0, 31);
    leafid_snowflake_options_set_name(options, "orders");
    leafid_snowflake_options_set_timeout_ms(options, 60000);
    check(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);
}

static void open_segments(char *numbers) {
    leafid_segments_options *options;
    check(leafid_segments_options_new(&options));
    if (strncmp(numbers, "file:", 5) == 0) {
        leafid_segments_options_add_server(options, numbers);
    } else {
        for (char *url = strtok(numbers, ","); url; url = strtok(NULL, ","))
            leafid_segments_options_add_server(options, url);
    }
    leafid_segments_options_set_name(options, "orders");
    leafid_segments_options_set_timeout_ms(options, 60000);
    /* A step that does not grow with the use keeps the gaps small that a killed process leaves. */
    leafid_segments_options_set_adaptive(options, 0);
    check(leafid_segments_open(options, &segments));
    leafid_segments_options_free(options);
    for (unsigned i = 0; i < shop_count; i++) check(leafid_segments_tag(segments, shop_names[i], &shops[i]));
}

int main(int argc, char **argv) {
    if (argc < 5 || argc > 4 + SHOPS) {
        fprintf(stderr, "usage: orders COUNT SEED NUMBERS SHOP...\n");
        return 2;
    }
    int count = atoi(argv[1]), before = count / 10;
    unsigned seed = (unsigned)atoi(argv[2]);
    shop_names = argv + 4;
    shop_count = (unsigned)argc - 4;
    open_flake();
    open_segments(argv[3]);

    run_threads(before, 2 * seed);
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        return 1;
    }
    /* The handles serve the child as well: its first id claims a worker id of the child's own, and its first number
       fetches a segment of its own. */
    run_threads(child == 0 ? count : count - before, 3 * seed + (child == 0));
    for (unsigned i = 0; i < shop_count; i++) leafid_tag_free(shops[i]);
    check(leafid_segments_close(segments));
    check(leafid_snowflake_close(flake));
    leafid_segments_free(segments);
    leafid_snowflake_free(flake);

    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) != child) return 1;
    return status == 0 ? 0 : 1;
}
