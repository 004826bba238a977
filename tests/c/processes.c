#define _GNU_SOURCE
#include "processes.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct process start_process(const char *role, const char *dir, const char *name, const char *worker, int ids) {
    int in[2], out[2];
    char count[16];
    snprintf(count, sizeof count, "%d", ids);
    REQUIRE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    fflush(NULL);
    pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        /* An emulator's name, where the kernel does not run programs for this processor. */
        char self[4096] = "";
        if (getenv("LEAFID_TEST_RUNNER") != NULL && readlink("/proc/self/exe", self, sizeof self - 1) > 0) {
            execl("/bin/sh", "sh", "-c", "exec $LEAFID_TEST_RUNNER \"$@\"", "sh", self, role, dir, name, worker, count,
                  (char *)NULL);
        }
        execl("/proc/self/exe", "leafid-test", role, dir, name, worker, count, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    return (struct process){pid, in[1], out[0]};
}

struct process start_holder(const char *dir, const char *name, const char *worker, int ids) {
    struct process process = start_process("holder", dir, name, worker, ids);
    close(process.input);
    process.input = -1;
    return process;
}

bool read_line(int from, char *line, size_t room) {
    size_t length = 0;
    int64_t end = now_ms() + HANG_MS;
    while (length + 1 < room) {
        struct pollfd ready = {from, POLLIN, 0};
        int64_t left = end - now_ms();
        if (left <= 0 || poll(&ready, 1, (int)left) <= 0 || read(from, line + length, 1) != 1) break;
        if (line[length] == '\n') {
            line[length] = '\0';
            return true;
        }
        length++;
    }
    line[length] = '\0';
    return false;
}

struct report read_report(struct process *process) {
    struct report report = {LEAFID_INTERNAL, -1, -1, -1, "no report"};
    char line[1200];
    int status = 0, at = 0;
    if (CHECK(read_line(process->output, line, sizeof line)) &&
        CHECK(sscanf(line, "%d %ld %" SCNd64 " %" SCNd64 " %n", &status, &report.worker, &report.first_id,
                     &report.last_id, &at) == 4)) {
        report.status = (leafid_status)status;
        snprintf(report.text, sizeof report.text, "%s", line + at);
    }
    return report;
}

void end_process(struct process *process, int signal) {
    if (process->pid > 0) {
        kill(process->pid, signal);
        waitpid(process->pid, NULL, 0);
    }
    if (process->input >= 0) close(process->input);
    if (process->output >= 0) close(process->output);
    *process = (struct process){-1, -1, -1};
}

void write_report(leafid_status status, leafid_snowflake *flake, int64_t first_id, int64_t last_id) {
    char text[900] = "ok";
    uint32_t worker = 0;
    if (status != LEAFID_OK) leafid_last_error(text, sizeof text);
    bool known = flake && leafid_snowflake_worker_id(flake, &worker) == LEAFID_OK;
    printf("%d %ld %" PRId64 " %" PRId64 " %s\n", (int)status, known ? (long)worker : -1L, first_id, last_id, text);
    fflush(stdout);
}

static int hold(const char *dir, const char *name, const char *worker, int ids) {
    sigset_t terminate;
    int got;
    sigemptyset(&terminate);
    sigaddset(&terminate, SIGTERM);
    sigprocmask(SIG_BLOCK, &terminate, NULL);
    while (getchar() != EOF) {
    }
    leafid_snowflake *flake = NULL;
    int64_t first = -1, last = -1;
    leafid_status status = open_flake(dir, name, worker, &flake);
    for (int i = 0; status == LEAFID_OK && i < ids; i++) {
        status = leafid_snowflake_next(flake, &last);
        if (i == 0) first = last;
    }
    write_report(status, flake, first, last);
    sigwait(&terminate, &got);
    leafid_snowflake_free(flake);
    return 0;
}

void run_role(int argc, char **argv, int (*other)(int argc, char **argv)) {
    if (argc < 2) return;
    /* Whatever becomes of the test, this process ends. */
    alarm(HANG_S);
    if (strcmp(argv[1], "holder") == 0 && argc == 6) exit(hold(argv[2], argv[3], argv[4], atoi(argv[5])));
    exit(other ? other(argc, argv) : 2);
}
