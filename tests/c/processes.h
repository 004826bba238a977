/* Other processes of a test: this program again, in a role. */
#ifndef LEAFID_TESTS_PROCESSES_H
#define LEAFID_TESTS_PROCESSES_H

#include "check.h"

/* A process in the role "holder": it waits for the end of its standard input, opens, takes `ids` ids, says so in one
   line, and lives on until SIGTERM (closes, ends) or SIGKILL. */
struct process {
    pid_t pid;
    int input, output;
};
struct report {
    leafid_status status;
    long worker;
    int64_t first_id, last_id;
    char text[900];
};

/* Roles: "holder", and those of the test itself. */
struct process start_process(const char *role, const char *dir, const char *name, const char *worker, int ids);
/* As start_process; the input is already at its end. */
struct process start_holder(const char *dir, const char *name, const char *worker, int ids);
/* One line of output, at most 10 s from now. */
bool read_line(int from, char *line, size_t room);
struct report read_report(struct process *process);
/* Sends the signal, waits for the end, closes the pipes. */
void end_process(struct process *process, int signal);

/* To be called first in main: does the role and exits, if this process has one. `other` does the test's own roles. */
void run_role(int argc, char **argv, int (*other)(int argc, char **argv));
/* A report written by hand. */
void write_report(leafid_status status, leafid_snowflake *flake, int64_t first_id, int64_t last_id);

#endif
