/* The harness of the C tests: checks, tests, and what several of them need. */
#ifndef LEAFID_TESTS_CHECK_H
#define LEAFID_TESTS_CHECK_H

#include "leafid.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Counts a failure and continues. From any thread. */
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_NUMBER(value, expected) check_number((value), (expected), #value, __FILE__, __LINE__)
/* The status of a call, and for an error that the text of leafid_last_error begins with its name. */
#define CHECK_STATUS(call, expected) check_status((call), (expected), #call, __FILE__, __LINE__)
/* That leafid_last_error names `part`. */
#define CHECK_SAYS(part) check_says((part), __FILE__, __LINE__)
/* That a call with NULL for an argument is refused by the argument's name. */
#define REFUSES_NULL(name, call) \
    CHECK_STATUS(call, LEAFID_INVALID_ARGUMENT); \
    CHECK_SAYS(name " is NULL; allowed: ")
/* That a call of open is refused for an option, with a text that has `expected` and what is allowed; and if the setter
   refused it already, that the text is the setter's. */
#define CHECK_REFUSED(setting, opening, expected) \
    do { \
        char by_setter[1024] = ""; \
        leafid_status first = (setting); \
        if (first != LEAFID_OK) leafid_last_error(by_setter, sizeof by_setter); \
        CHECK(first == LEAFID_OK || first == LEAFID_INVALID_ARGUMENT); \
        CHECK_STATUS((opening), LEAFID_INVALID_ARGUMENT); \
        check_refused(first, by_setter, expected, __FILE__, __LINE__); \
    } while (0)
/* As CHECK; ends the test when it fails. Only in the thread and process that runs the test. */
#define REQUIRE(condition) \
    do { \
        if (!CHECK(condition)) give_up(); \
    } while (0)
#define REQUIRE_OK(call) \
    do { \
        if (!CHECK_STATUS((call), LEAFID_OK)) give_up(); \
    } while (0)

/* Far longer than anything takes on a busy machine: only what never comes lasts so long. */
#define HANG_S 900
#define HANG_MS (HANG_S * 1000)

/* timeout_ms of calls that are to succeed: a disk that many others use takes seconds for a write. */
#define PATIENT_MS 60000

/* That it comes to be so. */
#define EVENTUALLY(condition) \
    do { \
        for (int left = HANG_MS / 10; left > 0 && !(condition); left--) pause_ms(10); \
        CHECK(condition); \
    } while (0)

bool check_that(bool holds, const char *text, const char *file, int line);
bool check_number(int64_t value, int64_t expected, const char *text, const char *file, int line);
bool check_status(leafid_status status, leafid_status expected, const char *text, const char *file, int line);
bool check_says(const char *part, const char *file, int line);
void check_refused(leafid_status first, const char *by_setter, const char *expected, const char *file, int line);
_Noreturn void give_up(void);

/* Runs one test and prints its line. */
void test(const char *name, void (*run)(void));
/* The same of one that forks while other threads allocate; in a raw clone, leafid's own. Not under AddressSanitizer. */
void test_forks_beside(const char *name, void (*run)(void));
/* Prints a line for a test that this machine cannot run. */
void skip(const char *name, const char *why);
/* The exit status of main. */
int finish(void);

/* An empty directory and an id space that no other test of this machine uses. Kept until the next call. */
const char *fresh_dir(void);
const char *fresh_name(void);
/* `many`, or fewer where every step is slow (under valgrind). */
size_t scaled(size_t many);
/* Sets a variable of the environment, or removes it: NULL. */
void set_env(const char *name, const char *value);
/* Zeroes, in memory that forked children share. */
void *shared_new(size_t size);
void shared_end(void *memory, size_t size);
int64_t now_ms(void);
void pause_ms(int ms);

/* Options with name, directory and worker set, and long time-outs; what was set is checked. */
leafid_snowflake_options *options_for(const char *dir, const char *name, const char *worker);
/* Opens, and gives the options back. */
leafid_status open_flake(const char *dir, const char *name, const char *worker, leafid_snowflake **out);

/* Ids from everywhere, to be looked at together. */
struct ids {
    int64_t *items;
    size_t count, room;
};
void ids_add(struct ids *ids, const int64_t *items, size_t count);
/* Sorts, and says how many are repeated. */
size_t ids_repeated(struct ids *ids);
void ids_free(struct ids *ids);

#ifndef _WIN32
/* Ends a child that could not continue, and says why. */
void end_unless_ok(leafid_status status);
/* Waits for a child, which is to end with 0. */
void reap(pid_t child);
/* Reads what others wrote to a pipe until `expected` ids are there or none has come for 10 s. */
void ids_receive(struct ids *ids, int pipe, size_t expected);
#endif

#endif
