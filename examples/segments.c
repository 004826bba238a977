#include <inttypes.h>
#include <leafid.h>
#include <stdio.h>

int main(void) {
    leafid_segments_options *options = NULL;
    leafid_segments *segments = NULL;
    leafid_tag *order = NULL;
    int64_t number, numbers[1000];

    leafid_segments_options_new(&options);
    leafid_segments_options_add_server(options, "file:numbers");
    leafid_segments_options_set_create(options, 1);
    leafid_segments_options_add_file_tag(options, "order", 1, 1000);
    if (leafid_segments_open(options, &segments) != LEAFID_OK) goto failed;
    if (leafid_segments_tag(segments, "order", &order) != LEAFID_OK) goto failed;

    if (leafid_tag_next(order, &number) != LEAFID_OK) goto failed;
    printf("order number %" PRId64 "\n", number);

    if (leafid_tag_fill(order, numbers, 1000) != LEAFID_OK) goto failed;
    printf("%d more, %" PRId64 " to %" PRId64 "\n", 1000, numbers[0], numbers[999]);

    leafid_tag_free(order);
    leafid_segments_free(segments);
    leafid_segments_options_free(options);
    return 0;

failed:;
    char text[512];
    leafid_last_error(text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return 1;
}
