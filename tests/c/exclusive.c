/* One holder of a worker id at a time: between processes, directories and users, and after a kill. */
#define _GNU_SOURCE
#include "processes.h"

#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static char name[64], dir[512];

static void fresh_place(void) {
    snprintf(name, sizeof name, "%s", fresh_name());
    snprintf(dir, sizeof dir, "%s", fresh_dir());
}

static void check_names_holder(const char *text, pid_t holder) {
    char pid[32];
    struct utsname host;
    uname(&host);
    snprintf(pid, sizeof pid, "pid %d ", (int)holder);
    if (!CHECK(strstr(text, pid) != NULL && strstr(text, host.nodename) != NULL &&
               strstr(text, "started 2") != NULL)) {
        fprintf(stderr, "  the text is: %s\n", text);
    }
}

static void second_process(void) {
    fresh_place();
    struct process holder = start_holder(dir, name, "3", 10);
    CHECK_NUMBER(read_report(&holder).status, LEAFID_OK);
    int64_t begun = now_ms();
    struct process second = start_holder(dir, name, "3", 1);
    struct report refused = read_report(&second);
    CHECK_NUMBER(refused.status, LEAFID_WORKER_IN_USE);
    check_names_holder(refused.text, holder.pid);
    /* At once: a fixed id is not waited for. Mostly the start of the process. */
    CHECK(now_ms() - begun < 400);
    leafid_snowflake *here = NULL;
    CHECK_STATUS(open_flake(dir, name, "3", &here), LEAFID_WORKER_IN_USE);
    CHECK(here == NULL);
    end_process(&second, SIGKILL);
    end_process(&holder, SIGTERM);
    CHECK_STATUS(open_flake(dir, name, "3", &here), LEAFID_OK);
    leafid_snowflake_free(here);
}

static void other_directory(void) {
    char first[512];
    fresh_place();
    snprintf(first, sizeof first, "%s", dir);
    struct process holder = start_holder(first, name, "4", 1);
    CHECK_NUMBER(read_report(&holder).status, LEAFID_OK);
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    struct process second = start_holder(dir, name, "4", 1);
    struct report refused = read_report(&second);
    CHECK_NUMBER(refused.status, LEAFID_WORKER_IN_USE);
    check_names_holder(refused.text, holder.pid);
    /* Another id space of the same directory is free. */
    leafid_snowflake *free_one = NULL;
    CHECK_STATUS(open_flake(first, fresh_name(), "4", &free_one), LEAFID_OK);
    leafid_snowflake_free(free_one);
    end_process(&second, SIGKILL);
    end_process(&holder, SIGKILL);
}

static void other_user(void) {
    const uid_t nobody = 65534;
    fresh_place();
    struct process holder = start_holder(dir, name, "5", 1);
    CHECK_NUMBER(read_report(&holder).status, LEAFID_OK);
    /* A directory of its own, which it may reach whatever stands above: handed over as the working directory. */
    snprintf(dir, sizeof dir, "%s", fresh_dir());
    REQUIRE(chown(dir, nobody, nobody) == 0);
    struct process second = start_process("nobody", dir, name, "5", 1, -1);
    struct report refused = read_report(&second);
    CHECK_NUMBER(refused.status, LEAFID_WORKER_IN_USE);
    check_names_holder(refused.text, holder.pid);
    end_process(&second, SIGKILL);
    end_process(&holder, SIGKILL);
}

static int as_nobody(int argc, char **argv) {
    if (argc != 6 || strcmp(argv[1], "nobody") != 0) return 2;
    if (chdir(argv[2]) != 0 || setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0) return 3;
    leafid_snowflake *flake = NULL;
    leafid_status status = open_flake(".", argv[3], argv[4], &flake);
    write_report(status, flake, -1, -1);
    leafid_snowflake_free(flake);
    return 0;
}

#define EIGHT 8

static void ninth_process(void) {
    struct process holders[EIGHT], ninth;
    bool held[EIGHT] = {false};
    fresh_place();
    for (int i = 0; i < EIGHT; i++) {
        holders[i] = start_holder(dir, name, "0-7", 5);
        struct report report = read_report(&holders[i]);
        CHECK_NUMBER(report.status, LEAFID_OK);
        REQUIRE(report.worker >= 0 && report.worker < EIGHT);
        CHECK(!held[report.worker]);
        held[report.worker] = true;
    }
    ninth = start_holder(dir, name, "0-7", 1);
    CHECK_NUMBER(read_report(&ninth).status, LEAFID_WORKER_IN_USE);
    end_process(&ninth, SIGKILL);
    for (int i = 0; i < EIGHT; i++) {
        /* Killed and ended in turn; the free id is had in 100 ms. */
        leafid_snowflake *here = NULL;
        end_process(&holders[i], i % 2 ? SIGTERM : SIGKILL);
        int64_t begun = now_ms();
        CHECK_STATUS(open_flake(dir, name, "0-7", &here), LEAFID_OK);
        CHECK(now_ms() - begun <= 100);
        leafid_snowflake_free(here);
        holders[i] = start_holder(dir, name, "0-7", 5);
        CHECK_NUMBER(read_report(&holders[i]).status, LEAFID_OK);
    }
    for (int i = 0; i < EIGHT; i++) end_process(&holders[i], SIGKILL);
}

struct waiting {
    sem_t told;
    leafid_snowflake *flake;
    leafid_status status;
};

static leafid_status open_of_two(int64_t random_start, leafid_snowflake **out) {
    leafid_snowflake_options *options = options_for(dir, name, "3-4");
    /* Other settings are another generator. */
    CHECK_STATUS(leafid_snowflake_options_set_random_start(options, random_start), LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_options_set_timeout_ms(options, 60000), LEAFID_OK);
    leafid_status status = leafid_snowflake_open(options, out);
    leafid_snowflake_options_free(options);
    return status;
}

static void *open_third(void *waiting) {
    struct waiting *of = waiting;
    of->status = open_of_two(3, &of->flake);
    return NULL;
}

static void hear(void *waiting, int32_t level, const char *text) {
    (void)level;
    if (strstr(text, "waiting up to 60000 ms")) sem_post(&((struct waiting *)waiting)->told);
}

static void waits_for_an_id(void) {
    struct waiting waiting = {.flake = NULL};
    leafid_snowflake *one = NULL, *other = NULL;
    pthread_t thread;
    uint32_t freed = 99, got = 98;
    fresh_place();
    REQUIRE(sem_init(&waiting.told, 0, 0) == 0);
    CHECK_STATUS(leafid_set_log(hear, &waiting, LEAFID_LOG_WARN), LEAFID_OK);
    REQUIRE_OK(open_of_two(1, &one));
    REQUIRE_OK(open_of_two(2, &other));
    REQUIRE(pthread_create(&thread, NULL, open_third, &waiting) == 0);
    while (sem_wait(&waiting.told) != 0) {}
    CHECK_STATUS(leafid_snowflake_worker_id(other, &freed), LEAFID_OK);
    leafid_snowflake_free(other);
    pthread_join(thread, NULL);
    CHECK_STATUS(waiting.status, LEAFID_OK);
    CHECK_STATUS(leafid_snowflake_worker_id(waiting.flake, &got), LEAFID_OK);
    CHECK_NUMBER(got, freed);
    CHECK_STATUS(leafid_set_log(NULL, NULL, 0), LEAFID_OK);
    leafid_snowflake_free(waiting.flake);
    leafid_snowflake_free(one);
    sem_destroy(&waiting.told);
}

static void eight_at_one_barrier(void) {
    struct ids all = {0};
    fresh_place();
    for (size_t round = 0; round < scaled(50); round++) {
        struct process holders[EIGHT];
        int barrier[2];
        bool held[EIGHT] = {false};
        REQUIRE(pipe2(barrier, O_CLOEXEC) == 0);
        for (int i = 0; i < EIGHT; i++) {
            char ready[16];
            holders[i] = start_process("waiter", dir, name, "0-7", 2, barrier[0]);
            CHECK(read_line(holders[i].output, ready, sizeof ready));
        }
        close(barrier[0]);
        close(barrier[1]);
        for (int i = 0; i < EIGHT; i++) {
            struct report report = read_report(&holders[i]);
            if (!CHECK_NUMBER(report.status, LEAFID_OK)) fprintf(stderr, "  round %zu: %s\n", round, report.text);
            if (report.status != LEAFID_OK) continue;
            CHECK(!held[report.worker % EIGHT]);
            held[report.worker % EIGHT] = true;
            int64_t ids[2] = {report.first_id, report.last_id};
            ids_add(&all, ids, 2);
        }
        for (int i = 0; i < EIGHT; i++) end_process(&holders[i], round % 2 ? SIGTERM : SIGKILL);
    }
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    ids_free(&all);
}

int main(int argc, char **argv) {
    run_role(argc, argv, as_nobody);
    test("the second process of a fixed id is refused at once, naming the holder", second_process);
    test("the same from another state directory", other_directory);
    if (geteuid() == 0) {
        test("the same as another user", other_user);
    } else {
        skip("the same as another user", "needs root");
    }
    test("a range of 8: the ninth is refused, until one of the eight has ended", ninth_process);
    test("a full range is waited for", waits_for_an_id);
    test("8 processes at one barrier on 8 ids, 50 rounds: all start", eight_at_one_barrier);
    return finish();
}
