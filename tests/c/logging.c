/* The log callback: its levels, threads and texts, and when it is called no more. */

#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#define MOST 64
#ifdef _WIN32
#define SEPARATOR '\\'
#else
#define SEPARATOR '/'
#endif

/* What a callback was given. */
struct said {
    pthread_mutex_t lock;
    int levels[MOST];
    char texts[MOST][512];
    atomic_size_t count;
    atomic_bool held, under_way;
    bool turns_itself_off;
    pthread_t thread;
};

static struct said *listen_anew(void) {
    struct said *said = calloc(1, sizeof *said);
    pthread_mutex_init(&said->lock, NULL);
    return said;
}

static void note(void *user_data, int32_t level, const char *message) {
    struct said *said = user_data;
    /* Of other tests, each with a name of its own; and of a slow disk. */
    if (strstr(message, "is held on this host under another name") || strstr(message, " ms for the disk")) return;
    atomic_store(&said->under_way, true);
    while (atomic_load(&said->held)) pause_ms(1);
    pthread_mutex_lock(&said->lock);
    size_t at = atomic_load(&said->count);
    said->thread = pthread_self();
    if (at < MOST) {
        said->levels[at] = level;
        snprintf(said->texts[at], sizeof said->texts[at], "%s", message);
        atomic_store(&said->count, at + 1);
    }
    pthread_mutex_unlock(&said->lock);
    if (said->turns_itself_off) CHECK_STATUS(leafid_set_log(NULL, NULL, 0), LEAFID_OK);
    atomic_store(&said->under_way, false);
}

static void wait_for(struct said *said, size_t count) {
    for (int ms = 0; ms < HANG_MS && atomic_load(&said->count) < count; ms++) pause_ms(1);
    CHECK_NUMBER(atomic_load(&said->count), count);
}

/* Opens and closes worker id 7. */
static void open_once(const char *dir, const char *name) {
    leafid_snowflake *flake;
    REQUIRE_OK(open_flake(dir, name, "7", &flake));
    leafid_snowflake_free(flake);
}

static void damage(const char *dir, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/worker-7.state", dir, name);
    FILE *file = fopen(path, "r+b");
    if (CHECK(file != NULL)) {
        fputs("damaged", file);
        fclose(file);
    }
}

static void levels_of_the_log(void) {
    struct said *said = listen_anew();
    char dir[512], name[64], begins[1024];
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    snprintf(name, sizeof name, "%s", fresh_name());
    CHECK_STATUS(leafid_set_log(note, said, 0), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("level");
    CHECK_STATUS(leafid_set_log(note, said, 5), LEAFID_INVALID_ARGUMENT);
    CHECK_STATUS(leafid_set_log(note, said, LEAFID_LOG_INFO), LEAFID_OK);
    open_once(dir, name);
    wait_for(said, 1);
    snprintf(begins, sizeof begins, "state directory %s%c%s, worker id 7 of \"%s\"", dir, SEPARATOR, name, name);
    CHECK(strncmp(said->texts[0], begins, strlen(begins)) == 0);
    CHECK_NUMBER(said->levels[0], LEAFID_LOG_INFO);
    CHECK(!pthread_equal(said->thread, pthread_self()));

    CHECK_STATUS(leafid_set_log(note, said, LEAFID_LOG_WARN), LEAFID_OK);
    damage(dir, name);
    open_once(dir, name);
    CHECK_STATUS(leafid_set_log(NULL, NULL, 0), LEAFID_OK);
    CHECK_NUMBER(atomic_load(&said->count), 2);
    CHECK_NUMBER(said->levels[1], LEAFID_LOG_WARN);
    CHECK(strstr(said->texts[1], "is damaged") != NULL);
    /* Turned off: its user_data may go. */
    free(said);
    open_once(dir, name);
}

static void *let_go(void *user_data) {
    struct said *said = user_data;
    pause_ms(100);
    atomic_store(&said->held, false);
    return NULL;
}

static void replaced_while_called(void) {
    struct said *one = listen_anew(), *two = listen_anew();
    pthread_t other;
    atomic_store(&one->held, true);
    CHECK_STATUS(leafid_set_log(note, one, LEAFID_LOG_INFO), LEAFID_OK);
    open_once(fresh_dir(), fresh_name());
    for (int ms = 0; ms < HANG_MS && !atomic_load(&one->under_way); ms++) pause_ms(1);
    CHECK(atomic_load(&one->under_way));
    CHECK_NUMBER(pthread_create(&other, NULL, let_go, one), 0);
    CHECK_STATUS(leafid_set_log(note, two, LEAFID_LOG_INFO), LEAFID_OK);
    CHECK(!atomic_load(&one->under_way));
    CHECK_NUMBER(atomic_load(&one->count), 1);
    pthread_join(other, NULL);
    free(one);
    open_once(fresh_dir(), fresh_name());
    wait_for(two, 1);
    CHECK_STATUS(leafid_set_log(NULL, NULL, 0), LEAFID_OK);
    free(two);
}

static void turned_off_by_itself(void) {
    struct said *said = listen_anew();
    said->turns_itself_off = true;
    CHECK_STATUS(leafid_set_log(note, said, LEAFID_LOG_INFO), LEAFID_OK);
    for (int i = 0; i < 3; i++) open_once(fresh_dir(), fresh_name());
    CHECK_STATUS(leafid_set_log(NULL, NULL, 0), LEAFID_OK);
    CHECK_NUMBER(atomic_load(&said->count), 1);
    free(said);
}

static void held_by_the_caller(void) {
    struct said *said = listen_anew();
    leafid_snowflake *flake;
    int64_t id;
    CHECK_STATUS(leafid_set_log(note, said, LEAFID_LOG_INFO), LEAFID_OK);
    pthread_mutex_lock(&said->lock);
    REQUIRE_OK(open_flake(fresh_dir(), fresh_name(), "7", &flake));
    CHECK_STATUS(leafid_snowflake_next(flake, &id), LEAFID_OK);
    pthread_mutex_unlock(&said->lock);
    leafid_snowflake_free(flake);
    wait_for(said, 1);
    CHECK_STATUS(leafid_set_log(NULL, NULL, 0), LEAFID_OK);
    free(said);
}

#ifndef _WIN32
static void in_a_forked_child(void) {
    struct said *said = listen_anew();
    int status = -1;
    atomic_store(&said->held, true);
    CHECK_STATUS(leafid_set_log(note, said, LEAFID_LOG_INFO), LEAFID_OK);
    for (int i = 0; i < 5; i++) open_once(fresh_dir(), fresh_name());
    int64_t begun = now_ms();
    pid_t child = fork();
    if (child == 0) {
        alarm(HANG_S);
        atomic_store(&said->held, false);
        open_once(fresh_dir(), fresh_name());
        if (leafid_set_log(NULL, NULL, 0) != LEAFID_OK) _exit(2);
        /* Its own record, and none of its parent's. */
        _exit(atomic_load(&said->count) == 1 ? 0 : 3);
    }
    CHECK(now_ms() - begun < HANG_MS / 2);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_NUMBER(status, 0);
    atomic_store(&said->held, false);
    wait_for(said, 5);
    CHECK_STATUS(leafid_set_log(NULL, NULL, 0), LEAFID_OK);
    free(said);
}

static void at_the_end_of_a_process(void) {
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        struct said *said = listen_anew();
        alarm(HANG_S);
        atomic_store(&said->held, true);
        if (leafid_set_log(note, said, LEAFID_LOG_INFO) != LEAFID_OK) _exit(2);
        for (int i = 0; i < 3; i++) open_once(fresh_dir(), fresh_name());
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_NUMBER(status, 0);
}
#endif

int main(void) {
    test("levels and texts, off", levels_of_the_log);
    test("after a replacement the callback before is called no more", replaced_while_called);
    test("a callback turns itself off", turned_off_by_itself);
    test("a callback may want a lock of the caller's", held_by_the_caller);
#ifndef _WIN32
    test("a forked child has records of its own", in_a_forked_child);
    test("the end of a process does not wait for a callback", at_the_end_of_a_process);
#endif
    return finish();
}
