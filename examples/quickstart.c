#include <inttypes.h>
#include <leafid.h>
#include <stdio.h>

int main(void) {
    leafid_snowflake *flake = NULL;
    int64_t id, ids[1000];
    leafid_parts parts;

    if (leafid_snowflake_open(NULL, &flake) != LEAFID_OK) goto failed;

    if (leafid_snowflake_next(flake, &id) != LEAFID_OK) goto failed;
    if (leafid_decode(id, NULL, &parts) != LEAFID_OK) goto failed;
    printf("%" PRId64 " made at %" PRId64 " by worker %" PRIu32 "\n", id, parts.timestamp_ms, parts.worker_id);

    if (leafid_snowflake_fill(flake, ids, 1000) != LEAFID_OK) goto failed;
    printf("%d more, %" PRId64 " to %" PRId64 "\n", 1000, ids[0], ids[999]);

    leafid_snowflake_free(flake);
    return 0;

failed:;
    char text[512];
    leafid_last_error(text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}
