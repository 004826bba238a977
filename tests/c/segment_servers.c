/* Segments from servers: what the options say reaches the wire. */
#define _GNU_SOURCE
#include "counter.h"
#include "fake_server.h"
#include "tags.inc"

#include <string.h>

static leafid_segments_options *served(void) {
    leafid_segments_options *options;
    REQUIRE_OK(leafid_segments_options_new(&options));
    CHECK_STATUS(leafid_segments_options_set_name(options, fresh_name()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_state_dir(options, fresh_dir()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_protocol(options, LEAFID_PROTOCOL_RANGE), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_adaptive(options, 0), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, 60000), LEAFID_OK);
    return options;
}

static void on_the_wire(void) {
    struct fake_server server;
    leafid_segments_options *options = served();
    leafid_segments *segments;
    const char *report = "";
    fake_server_start(&server, NULL);
    say_to(&server, "{\"do\":\"token\",\"token\":\"open-sesame\"}");
    CHECK_STATUS(leafid_segments_options_add_server(options, server.url), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_step(options, 25), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_token(options, "open-sesame"), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_header(options, "X-Shop", "7"), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_add_header(options, "X-Till", "b 2"), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_connections(options, 1), LEAFID_OK);
    REQUIRE_OK(leafid_segments_open(options, &segments));
    leafid_segments_options_free(options);
    for (size_t i = 0; i < sizeof tag_names / sizeof *tag_names; i++) {
        char path[600];
        leafid_tag *tag;
        int64_t id = -1;
        if (tag_names[i].refused) continue;
        REQUIRE_OK(leafid_segments_tag(segments, tag_names[i].tag, &tag));
        CHECK_STATUS(leafid_tag_next(tag, &id), LEAFID_OK);
        CHECK_NUMBER(id, 1);
        CHECK_NUMBER((int64_t)stats_of(tag).left, 24);
        report = say_to(&server, "{\"do\":\"report\",\"requests\":1}");
        snprintf(path, sizeof path, "\"path\": \"/api/segment/range/%s\"", tag_names[i].path);
        if (!CHECK(strstr(report, path) != NULL)) fprintf(stderr, "%s\nnot %s\n", report, path);
        leafid_tag_free(tag);
    }
    CHECK(strstr(report, "\"step\": \"25\"") != NULL);
    CHECK(strstr(report, "\"authorization\": \"Bearer open-sesame\"") != NULL);
    CHECK(strstr(report, "\"x-shop\": \"7\"") && strstr(report, "\"x-till\": \"b 2\""));
    leafid_segments_free(segments);
    fake_server_end(&server);
}

int main(void) {
    test("options of servers reach the wire", on_the_wire);
    return finish();
}
