#include <leafid.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    leafid_parts parts;
    if (strcmp(leafid_version(), LEAFID_VERSION) != 0) return 1;
    if (leafid_decode(1169786042799259000, NULL, &parts) != LEAFID_OK || parts.worker_id != 39) return 2;
    printf("leafid %s decodes\n", leafid_version());
    return 0;
}
