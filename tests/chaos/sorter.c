/*
 * The judge of ids: sorts all files of a directory in bounded memory, and looks at neighbours.
 *
 *     sorter DIRECTORY SCRATCH [IDS_IN_MEMORY]
 *
 * A file holds ids of 8 bytes as they were issued; what a killed process left of one more is no id. It prints how many
 * ids there are, how many repeat one before, how many are negative, how many do not lie above the one before in files
 * whose name begins with `rising-`, the largest, and, taking ids for snowflakes of Leaf's layout, the latest
 * millisecond of each worker id. Up to ten repeated ids are printed with the files they stand in.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 1024, RUNS = 4096, ROOM = 1 << 14, SHOWN = 10 };

typedef struct {
    FILE *file;
    int64_t head;
} run;

static size_t most = 8u << 20, held;
static int64_t *ids, *spare, last_ms[WORKERS], shown[SHOWN];
static run runs[RUNS];
static unsigned run_count;
static long long count, falls, negative;
static const char *scratch;

static void fail(const char *what) {
    fprintf(stderr, "sorter: %s: %s\n", what, strerror(errno));
    exit(2);
}

/* By bytes, the least first; the largest one's sign is turned, so that negative numbers come first. */
static void sort_held(void) {
    for (int shift = 0; shift < 64; shift += 8) {
        size_t starts[257] = {0};
        unsigned turn = shift == 56 ? 128 : 0;
        for (size_t i = 0; i < held; i++) starts[((((uint64_t)ids[i] >> shift) & 255) ^ turn) + 1]++;
        for (int i = 0; i < 256; i++) starts[i + 1] += starts[i];
        for (size_t i = 0; i < held; i++) spare[starts[(((uint64_t)ids[i] >> shift) & 255) ^ turn]++] = ids[i];
        int64_t *other = ids;
        ids = spare;
        spare = other;
    }
}

static void flush(void) {
    char path[4096];
    if (!held) return;
    if (run_count == RUNS) fail("too many runs");
    snprintf(path, sizeof path, "%s/run-%u", scratch, run_count);
    sort_held();
    FILE *file = fopen(path, "w+");
    if (!file || unlink(path) || fwrite(ids, sizeof *ids, held, file) != held || fseek(file, 0, SEEK_SET)) fail(path);
    runs[run_count++].file = file;
    held = 0;
}

/* Calls `one` with each id of each file. */
static void each(const char *directory, void (*one)(const char *, int64_t, int64_t)) {
    DIR *entries = opendir(directory);
    if (!entries) fail(directory);
    for (struct dirent *entry; (entry = readdir(entries));) {
        char path[4096];
        static int64_t some[ROOM];
        int64_t before = INT64_MIN;
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) fail(path);
        for (size_t n; (n = fread(some, sizeof *some, ROOM, file));)
            for (size_t i = 0; i < n; i++) {
                one(entry->d_name, some[i], before);
                before = some[i];
            }
        if (ferror(file)) fail(path);
        fclose(file);
    }
    closedir(entries);
}

static void gather(const char *name, int64_t id, int64_t before) {
    if (held == most) flush();
    ids[held++] = id;
    count++;
    falls += id <= before && !strncmp(name, "rising-", 7);
    negative += id < 0;
    int64_t *last = &last_ms[id >> 12 & (WORKERS - 1)], ms = (id >> 22) + 1288834974657;
    if (ms > *last) *last = ms;
}

static int next_of(run *of) { return fread(&of->head, sizeof of->head, 1, of->file) == 1; }

/* The run with the least head is kept at the front of a heap. */
static void sink(run **heap, unsigned length) {
    for (unsigned at = 0, child; (child = 2 * at + 1) < length; at = child) {
        if (child + 1 < length && heap[child + 1]->head < heap[child]->head) child++;
        if (heap[at]->head <= heap[child]->head) return;
        run *other = heap[at];
        heap[at] = heap[child];
        heap[child] = other;
    }
}

static int by_head(const void *one, const void *other) {
    int64_t a = (*(run *const *)one)->head, b = (*(run *const *)other)->head;
    return (a > b) - (a < b);
}

static void show(const char *name, int64_t id, int64_t before) {
    (void)before;
    for (int i = 0; i < SHOWN && shown[i]; i++)
        if (shown[i] == id) printf("repeated %" PRId64 " %s\n", id, name);
}

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    scratch = argv[2];
    if (argc > 3) most = (size_t)atoll(argv[3]);
    ids = malloc(most * sizeof *ids), spare = malloc(most * sizeof *ids);
    if (!ids || !spare || !most) fail("memory");
    each(argv[1], gather);
    flush();
    run *heap[RUNS];
    unsigned length = 0;
    for (unsigned i = 0; i < run_count; i++)
        if (next_of(&runs[i])) heap[length++] = &runs[i];
    qsort(heap, length, sizeof *heap, by_head);
    long long merged = 0, repeated = 0;
    int told = 0;
    int64_t before = 0;
    while (length) {
        int64_t id = heap[0]->head;
        if (merged++ && id == before) {
            repeated++;
            if (told < SHOWN && (!told || shown[told - 1] != id)) shown[told++] = id;
        }
        before = id;
        if (!next_of(heap[0])) heap[0] = heap[--length];
        sink(heap, length);
    }
    /* Also when a disk lost some of the runs. */
    if (merged != count) fail("the runs have other ids than the files");
    printf("ids %lld\nduplicates %lld\nnegative %lld\nfalls %lld\nlargest %" PRId64 "\n", count, repeated, negative,
           falls, before);
    for (int worker = 0; worker < WORKERS; worker++)
        if (last_ms[worker]) printf("worker-%d %" PRId64 "\n", worker, last_ms[worker]);
    if (told) each(argv[1], show);
    return 0;
}
