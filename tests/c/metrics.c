/* The text for Prometheus. */

#include "check.h"

#include <stdlib.h>
#include <string.h>

static void metrics_of_the_process(void) {
    leafid_snowflake *flake;
    char name[64], line[128], small[8] = "xxxxxxx", *text;
    size_t needed = 0, again = 0;
    snprintf(name, sizeof name, "%s", fresh_name());
    REQUIRE_OK(open_flake(fresh_dir(), name, "7", &flake));
    CHECK_STATUS(leafid_metrics(NULL, 0, &needed), LEAFID_OK);
    text = malloc(needed + 1);
    CHECK_STATUS(leafid_metrics(text, needed + 1, &again), LEAFID_OK);
    CHECK_NUMBER(again, needed);
    CHECK_NUMBER(strlen(text), needed);
    snprintf(line, sizeof line, "\nleafid_snowflake_handles{name=\"%s\",worker_id=\"7\",state_dir=\"", name);
    CHECK(strstr(text, line) != NULL);
    CHECK(strstr(text, "leafid_build_info{version=\"" LEAFID_VERSION "\"} 1\n") != NULL);
    CHECK(strcmp(text + needed - 6, "# EOF\n") == 0);

    CHECK_STATUS(leafid_metrics(small, sizeof small, NULL), LEAFID_OK);
    CHECK(strcmp(small, "# HELP ") == 0);
    CHECK_STATUS(leafid_metrics(NULL, 1, &again), LEAFID_INVALID_ARGUMENT);
    leafid_snowflake_free(flake);
    CHECK_STATUS(leafid_metrics(text, needed + 1, NULL), LEAFID_OK);
    CHECK(strstr(text, name) == NULL);
    free(text);
}

int main(void) {
    test("every generator that is open, for Prometheus", metrics_of_the_process);
    return finish();
}
