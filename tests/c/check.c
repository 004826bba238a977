#define _GNU_SOURCE
#include "check.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef _WIN32
#include <io.h>
#else
#include <sys/mman.h>
#include <sys/wait.h>
#endif

static atomic_int failures;
static int failed_tests;
static jmp_buf out_of_test;

bool check_that(bool holds, const char *text, const char *file, int line) {
    if (!holds) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, text);
    }
    return holds;
}

bool check_number(int64_t value, int64_t expected, const char *text, const char *file, int line) {
    if (value != expected) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, text, (long long)value, (long long)expected);
    }
    return value == expected;
}

bool check_status(leafid_status status, leafid_status expected, const char *text, const char *file, int line) {
    char said[1024] = "";
    if (status != LEAFID_OK) leafid_last_error(said, sizeof said);
    if (status != expected) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: %s answered %s, not %s: %s\n", file, line, text, leafid_status_name(status),
                leafid_status_name(expected), said);
        return false;
    }
    const char *name = leafid_status_name(status);
    return status == LEAFID_OK || check_that(strncmp(said, name, strlen(name)) == 0, said, file, line);
}

bool check_says(const char *part, const char *file, int line) {
    char said[4096];
    leafid_last_error(said, sizeof said);
    bool holds = strstr(said, part) != NULL;
    if (!holds) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "%s:%d: \"%s\" is not in: %s\n", file, line, part, said);
    }
    return holds;
}

void check_refused(leafid_status first, const char *by_setter, const char *expected, const char *file, int line) {
    char by_open[1024];
    leafid_last_error(by_open, sizeof by_open);
    if (first != LEAFID_OK) check_that(strcmp(by_open, by_setter) == 0, by_open, file, line);
    check_says(expected, file, line);
    check_says("; allowed: ", file, line);
}

_Noreturn void give_up(void) {
    longjmp(out_of_test, 1);
}

/* Whether LEAFID_TEST_SKIP, names with `;` between them, has this one. */
static bool is_skipped(const char *name) {
    const char *names = getenv("LEAFID_TEST_SKIP");
    size_t length = strlen(name);
    for (const char *at = names; at && *at; at = strchr(at, ';'), at += at != NULL) {
        if (strncmp(at, name, length) == 0 && (at[length] == ';' || at[length] == '\0')) return true;
    }
    return false;
}

void test(const char *name, void (*run)(void)) {
    const char *only = getenv("LEAFID_TEST_ONLY");
    if (only && *only && !strstr(name, only)) return;
    if (is_skipped(name)) {
        skip(name, "not on this system, see tests/cross");
        return;
    }
    int before = atomic_load(&failures);
    int64_t start = now_ms();
    if (setjmp(out_of_test) == 0) run();
    bool passed = atomic_load(&failures) == before;
    failed_tests += !passed;
    printf("%s - %s (%lld ms)\n", passed ? "ok" : "not ok", name, (long long)(now_ms() - start));
    fflush(stdout);
}

void test_forks_beside(const char *name, void (*run)(void)) {
#ifdef __SANITIZE_ADDRESS__
    /* Before GCC 14 it takes no part in forks: what another thread had locked in it stays locked in the child. At a
       fork() leafid's own threads hold nothing; a _Fork or a raw clone may come in the middle of their malloc. */
    (void)run;
    skip(name, "what AddressSanitizer has locked may stay locked in a child for ever");
#else
    test(name, run);
#endif
}

void skip(const char *name, const char *why) {
    printf("skipped - %s: %s\n", name, why);
    fflush(stdout);
}

int finish(void) {
    return failed_tests != 0;
}

static const char *from_runner(const char *variable) {
    const char *value = getenv(variable);
    if (!value || !*value) {
        fprintf(stderr, "%s is not set: start this program with tests/c/run.py\n", variable);
        exit(2);
    }
    return value;
}

const char *fresh_dir(void) {
    static char dir[512];
#ifdef _WIN32
    static int counter;
    char short_form[512];
    snprintf(short_form, sizeof short_form, "%s/%d-%d", from_runner("LEAFID_TEST_DIR"), (int)getpid(), counter++);
    if (!_fullpath(dir, short_form, sizeof dir) || mkdir(dir) != 0) {
#else
    snprintf(dir, sizeof dir, "%s/XXXXXX", from_runner("LEAFID_TEST_DIR"));
    if (!mkdtemp(dir)) {
#endif
        perror(dir);
        exit(2);
    }
    return dir;
}

const char *fresh_name(void) {
    static char name[64];
    static int counter;
    snprintf(name, sizeof name, "%s-%d-%d", from_runner("LEAFID_TEST_NAME"), (int)getpid(), counter++);
    return name;
}

size_t scaled(size_t many) {
    size_t few = many / 20;
    if (!getenv("LEAFID_TEST_SLOW")) return many;
    return few ? few : 1;
}

void set_env(const char *name, const char *value) {
#ifdef _WIN32
    CHECK(_putenv_s(name, value ? value : "") == 0);
#else
    CHECK((value ? setenv(name, value, 1) : unsetenv(name)) == 0);
#endif
}

void *shared_new(size_t size) {
#ifdef _WIN32
    void *memory = calloc(1, size);
    REQUIRE(memory != NULL);
#else
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
#endif
    return memory;
}

void shared_end(void *memory, size_t size) {
#ifdef _WIN32
    (void)size;
    free(memory);
#else
    munmap(memory, size);
#endif
}

int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_ms(int ms) {
    struct timespec rest = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&rest, &rest) != 0) {
    }
}

leafid_snowflake_options *options_for(const char *dir, const char *name, const char *worker) {
    leafid_snowflake_options *options;
    REQUIRE_OK(leafid_snowflake_options_new(&options));
    CHECK_STATUS(leafid_snowflake_options_set_state_dir(options, dir), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_name(options, name), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_worker(options, worker), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_timeout_ms(options, PATIENT_MS), LEAFID_OK);
    if (strstr(worker, "://")) {
        CHECK_STATUS(leafid_snowflake_options_set_request_timeout_ms(options, PATIENT_MS), LEAFID_OK);
        CHECK_STATUS(leafid_snowflake_options_set_connect_timeout_ms(options, PATIENT_MS), LEAFID_OK);
    }
    return options;
}

leafid_status open_flake(const char *dir, const char *name, const char *worker, leafid_snowflake **out) {
    leafid_snowflake_options *options = options_for(dir, name, worker);
    leafid_status status = leafid_snowflake_open(options, out);
    leafid_snowflake_options_free(options);
    return status;
}

void ids_add(struct ids *ids, const int64_t *items, size_t count) {
    if (ids->room - ids->count < count) {
        size_t room = (ids->count + count) * 2;
        int64_t *grown = realloc(ids->items, room * sizeof *grown);
        if (!grown) abort();
        ids->items = grown;
        ids->room = room;
    }
    if (count) memcpy(ids->items + ids->count, items, count * sizeof *items);
    ids->count += count;
}

static int by_value(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

size_t ids_repeated(struct ids *ids) {
    size_t repeated = 0;
    if (ids->count) qsort(ids->items, ids->count, sizeof *ids->items, by_value);
    for (size_t i = 1; i < ids->count; i++) repeated += ids->items[i] == ids->items[i - 1];
    return repeated;
}

void ids_free(struct ids *ids) {
    free(ids->items);
    *ids = (struct ids){0};
}

#ifndef _WIN32
void end_unless_ok(leafid_status status) {
    char text[1024];
    if (status == LEAFID_OK) return;
    leafid_last_error(text, sizeof text);
    fprintf(stderr, "  in a child: %s\n", text);
    _exit(100 + (int)status);
}

void reap(pid_t child) {
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    if (WIFEXITED(status)) CHECK_NUMBER(WEXITSTATUS(status), 0);
}

void ids_receive(struct ids *ids, int pipe, size_t expected) {
    int64_t some[64];
    alarm(HANG_S);
    while (ids->count < expected) {
        ssize_t length = read(pipe, some, sizeof some);
        if (length <= 0) break;
        ids_add(ids, some, (size_t)length / sizeof *some);
        alarm(HANG_S);
    }
    alarm(0);
}
#endif
