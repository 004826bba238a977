/* Signals whose handlers do not restart what they interrupt, thousands a second: no call fails for them. */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int number) {
    (void)number;
    signals++;
}

static void storm(long every_us) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval timer = {{0, every_us}, {0, every_us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Opens, takes and closes; the number of calls that failed, which are reported. */
static int rounds(const char *dir, const char *name, int times) {
    int failed = 0;
    char counters[600];
    snprintf(counters, sizeof counters, "file:%s/counters", dir);
    for (int i = 0; i < times; i++) {
        leafid_snowflake_options *options = NULL;
        leafid_snowflake *flake = NULL;
        leafid_segments_options *of_segments = NULL;
        leafid_segments *segments = NULL;
        leafid_tag *tag = NULL;
        int64_t id, many[9000];
        leafid_status status = leafid_snowflake_options_new(&options);
        if (!status) status = leafid_snowflake_options_set_name(options, name);
        if (!status) status = leafid_snowflake_options_set_state_dir(options, dir);
        if (!status) status = leafid_snowflake_options_set_worker(options, "0-3");
        if (!status) status = leafid_snowflake_options_set_timeout_ms(options, PATIENT_MS);
        if (!status) status = leafid_snowflake_open(options, &flake);
        if (!status) status = leafid_snowflake_next(flake, &id);
        if (!status) status = leafid_snowflake_fill(flake, many, 9000);
        if (!status) status = leafid_snowflake_close(flake);
        if (!status) status = leafid_segments_options_new(&of_segments);
        if (!status) status = leafid_segments_options_set_name(of_segments, name);
        if (!status) status = leafid_segments_options_set_state_dir(of_segments, dir);
        if (!status) status = leafid_segments_options_add_server(of_segments, counters);
        if (!status) status = leafid_segments_options_set_create(of_segments, 1);
        if (!status) status = leafid_segments_options_set_timeout_ms(of_segments, PATIENT_MS);
        if (!status) status = leafid_segments_options_add_file_tag(of_segments, "order", 1, 10);
        if (!status) status = leafid_segments_open(of_segments, &segments);
        if (!status) status = leafid_segments_tag(segments, "order", &tag);
        if (!status) status = leafid_tag_fill(tag, many, 50);
        if (!status) status = leafid_segments_close(segments);
        if (status != LEAFID_OK) {
            char text[600];
            leafid_last_error(text, sizeof text);
            fprintf(stderr, "  round %d: %s\n", i, text);
            failed++;
        }
        leafid_tag_free(tag);
        leafid_segments_free(segments);
        leafid_segments_options_free(of_segments);
        leafid_snowflake_free(flake);
        leafid_snowflake_options_free(options);
    }
    return failed;
}

static void all_calls(void) {
    char dir[512], name[64];
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    snprintf(name, sizeof name, "%s", fresh_name());
    storm(300);
    signals = 0;
    do {
        CHECK_NUMBER(rounds(dir, name, 30), 0);
    } while (signals <= 100);
    storm(0);
}

/* Where leafid makes no threads, the caller's own thread does the work, and signals interrupt it. */
static void without_threads(void) {
    char dir[512], name[64];
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    snprintf(name, sizeof name, "%s", fresh_name());
    leafid_snowflake_options *options = options_for(dir, name, "0-3");
    leafid_snowflake *flake;
    int64_t id;
    REQUIRE_OK(leafid_snowflake_open(options, &flake));
    leafid_snowflake_options_free(options);
    REQUIRE_OK(leafid_snowflake_next(flake, &id));
    fflush(NULL);
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    REQUIRE(child >= 0);
    if (child == 0) {
        storm(300);
        int64_t until = now_ms() + 1500;
        leafid_status status = LEAFID_OK;
        while (status == LEAFID_OK && (now_ms() < until || signals <= 100)) status = leafid_snowflake_next(flake, &id);
        if (status == LEAFID_OK) status = leafid_snowflake_close(flake);
        storm(0);
        _exit(status == LEAFID_OK ? 0 : 100 + (int)status);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK_NUMBER(WEXITSTATUS(status), 0);
    leafid_snowflake_free(flake);
}

int main(void) {
    test("calls under a storm of signals", all_calls);
    test_forks_beside("calls under a storm of signals, in a raw clone", without_threads);
    return finish();
}
