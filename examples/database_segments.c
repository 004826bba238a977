// Segments from a function of your own. Here a tag's counter is a file, TAG.counter, with the first number not yet
// given; with a database, what stands between flock and close is one transaction.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <leafid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int fetch(void *user_data, const char *tag, int64_t step, leafid_segment *out, char *error, size_t error_cap) {
    char path[160], text[32] = "";
    (void)user_data;
    snprintf(path, sizeof path, "%s.counter", tag);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0 && errno == ENOENT) return LEAFID_UNKNOWN_TAG;
    if (file < 0 || flock(file, LOCK_EX) != 0 || pread(file, text, sizeof text - 1, 0) < 0) goto failed;
    int64_t start = strtoll(text, NULL, 10);
    errno = EINVAL;
    if (start < 1) goto failed;
    int length = snprintf(text, sizeof text, "%020" PRId64 "\n", start + step);
    if (pwrite(file, text, (size_t)length, 0) != length || fsync(file) != 0) goto failed;
    close(file);
    out->start = start;
    out->end = start + step;
    return LEAFID_OK;

failed:
    snprintf(error, error_cap, "%s: %s", path, strerror(errno));
    if (file >= 0) close(file);
    return -1;
}

int main(void) {
    leafid_segments_options *options = NULL;
    leafid_segments *segments = NULL;
    leafid_tag *order = NULL;
    int64_t number, more[3];

    leafid_segments_options_new(&options);
    leafid_segments_options_set_name(options, "counters");
    leafid_segments_options_set_fetch(options, fetch, NULL, NULL);
    if (leafid_segments_open(options, &segments) != LEAFID_OK) goto failed;
    if (leafid_segments_tag(segments, "order", &order) != LEAFID_OK) goto failed;
    if (leafid_tag_next(order, &number) != LEAFID_OK) goto failed;
    if (leafid_tag_fill(order, more, 3) != LEAFID_OK) goto failed;
    printf("order number %" PRId64 ", then ", number);
    printf("[%" PRId64 ", %" PRId64 ", %" PRId64 "]\n", more[0], more[1], more[2]);
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
