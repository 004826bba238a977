/* Statuses against tests/vectors/errors.json, and the text of the last error. */
#include "check.h"
#include "errors.inc"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void statuses(void) {
    CHECK_NUMBER(LEAFID_OK, 0);
    CHECK(strcmp(leafid_status_name(LEAFID_OK), "ok") == 0);
    CHECK(!leafid_status_can_retry(LEAFID_OK));
    size_t count = sizeof table / sizeof *table;
    for (size_t i = 0; i < count; i++) {
        CHECK_NUMBER(table[i].c, table[i].number);
        CHECK(strcmp(leafid_status_name(table[i].number), table[i].code) == 0);
        CHECK_NUMBER(leafid_status_can_retry(table[i].number), table[i].retry);
    }
    const int unknown[] = {-1, (int)count + 1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        CHECK(strcmp(leafid_status_name(unknown[i]), "unknown") == 0);
        CHECK(!leafid_status_can_retry(unknown[i]));
    }
}

static void version(void) {
    CHECK(strcmp(leafid_version(), LEAFID_VERSION) == 0);
}

static void *no_error_yet(void *unused) {
    char text[8] = "before";
    (void)unused;
    CHECK_NUMBER((int64_t)leafid_last_error(text, sizeof text), 0);
    CHECK(text[0] == '\0');
    CHECK_NUMBER((int64_t)leafid_last_error(NULL, 0), 0);
    leafid_parts parts;
    CHECK_STATUS(leafid_decode(-2, NULL, &parts), LEAFID_INVALID_ARGUMENT);
    CHECK_SAYS("-2");
    return NULL;
}

static void of_the_thread(void) {
    pthread_t thread;
    leafid_parts parts;
    CHECK_STATUS(leafid_decode(-1, NULL, &parts), LEAFID_INVALID_ARGUMENT);
    REQUIRE(pthread_create(&thread, NULL, no_error_yet, NULL) == 0);
    pthread_join(thread, NULL);
    CHECK_SAYS("id is -1");
    /* A success leaves it alone. */
    CHECK_STATUS(leafid_decode(1, NULL, &parts), LEAFID_OK);
    CHECK_SAYS("id is -1");
}

static void cut_to_the_buffer(void) {
    char whole[1024], cut[1024];
    leafid_layout layout;
    /* Two bytes a character, so that most cuts would fall inside of one. */
    CHECK_STATUS(leafid_layout_parse("\303\244\303\266\303\274", &layout), LEAFID_INVALID_ARGUMENT);
    size_t length = leafid_last_error(whole, sizeof whole);
    CHECK_NUMBER((int64_t)strlen(whole), (int64_t)length);
    CHECK(strstr(whole, "\303\244\303\266\303\274") != NULL);
    CHECK_NUMBER((int64_t)leafid_last_error(NULL, 0), (int64_t)length);
    CHECK_NUMBER((int64_t)leafid_last_error(NULL, 100), (int64_t)length);
    for (size_t cap = 0; cap <= length + 2; cap++) {
        memset(cut, '#', sizeof cut);
        CHECK_NUMBER((int64_t)leafid_last_error(cut, cap), (int64_t)length);
        CHECK(cut[cap] == '#');
        if (cap == 0) continue;
        size_t kept = strlen(cut);
        CHECK(kept < cap && memcmp(cut, whole, kept) == 0);
        /* As much as fits, and no half character: the next byte of the whole text begins one. */
        CHECK(kept == length || kept + 2 >= cap);
        CHECK((whole[kept] & 0xC0) != 0x80);
    }
}

int main(void) {
    test("statuses have the numbers and names of the table", statuses);
    test("the library's version is the header's", version);
    test("the last error belongs to the thread and outlives a success", of_the_thread);
    test("the last error is cut to the buffer, between characters", cut_to_the_buffer);
    return finish();
}
