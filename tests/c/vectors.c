/* tests/vectors/snowflake.json in C: compose, decode and text, refusals included. */
#include "check.h"
#include "vectors.inc"
#include "uuids.inc"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static leafid_layout layout_of(const char *name) {
    for (size_t i = 0; i < LENGTH(layouts); i++) {
        if (strcmp(layouts[i].name, name) == 0) return layouts[i].layout;
    }
    REQUIRE(!"a layout of that name");
    return layouts[0].layout;
}

static void check_parts(leafid_parts parts, int64_t timestamp_ms, int64_t worker_id, int64_t sequence) {
    CHECK_NUMBER(parts.timestamp_ms, timestamp_ms);
    CHECK_NUMBER(parts.worker_id, worker_id);
    CHECK_NUMBER(parts.sequence, sequence);
}

static void parsed_layouts(void) {
    int presets = 0;
    for (size_t i = 0; i < LENGTH(layouts); i++) {
        leafid_layout layout = {0};
        const leafid_layout *expected = &layouts[i].layout;
        CHECK_STATUS(leafid_layout_parse(layouts[i].name, &layout), LEAFID_OK);
        /* Bits as text have Leaf's epoch; a preset has its own. */
        bool preset = strchr(layouts[i].name, '|') == NULL;
        presets += preset;
        if (!preset) layout.epoch_ms = expected->epoch_ms;
        CHECK_NUMBER(layout.epoch_ms, expected->epoch_ms);
        CHECK_NUMBER(layout.tick_ms, expected->tick_ms);
        CHECK_NUMBER(layout.timestamp_bits, expected->timestamp_bits);
        CHECK_NUMBER(layout.worker_bits, expected->worker_bits);
        CHECK_NUMBER(layout.sequence_bits, expected->sequence_bits);
        CHECK_NUMBER(layout.order, expected->order);
        int64_t end = 0, too_late;
        CHECK_STATUS(leafid_layout_expires_at_ms(&layout, &end), LEAFID_OK);
        CHECK_NUMBER(end, expected->epoch_ms + (INT64_C(1) << expected->timestamp_bits) * expected->tick_ms);
        CHECK_STATUS(leafid_compose(end, 0, 0, &layout, &too_late), LEAFID_TIME_EXHAUSTED);
        CHECK_STATUS(leafid_compose(end - 1, 0, 0, &layout, &too_late), LEAFID_OK);
    }
    CHECK_NUMBER(presets, 5);
}

static void composed_and_decoded(void) {
    for (size_t i = 0; i < LENGTH(valid); i++) {
        leafid_layout layout = layout_of(valid[i].layout);
        int64_t id = -1;
        leafid_parts parts = {0}, from_text = {0};
        CHECK_STATUS(leafid_compose(valid[i].timestamp_ms, valid[i].worker_id, valid[i].sequence, &layout, &id),
                     LEAFID_OK);
        CHECK_NUMBER(id, valid[i].id);
        CHECK_STATUS(leafid_decode(valid[i].id, &layout, &parts), LEAFID_OK);
        check_parts(parts, valid[i].timestamp_ms, valid[i].worker_id, valid[i].sequence);
        CHECK_STATUS(leafid_decode_text(valid[i].text, &layout, &from_text), LEAFID_OK);
        check_parts(from_text, valid[i].timestamp_ms, valid[i].worker_id, valid[i].sequence);
        if (strcmp(valid[i].layout, "leaf") == 0) {
            CHECK_STATUS(leafid_decode(valid[i].id, NULL, &parts), LEAFID_OK);
            check_parts(parts, valid[i].timestamp_ms, valid[i].worker_id, valid[i].sequence);
        }
    }
}

static void ends_of_ticks(void) {
    for (size_t i = 0; i < LENGTH(ranges); i++) {
        leafid_layout layout = layout_of(ranges[i].layout);
        int64_t first = -1, last = -1;
        CHECK_STATUS(leafid_first_id_at(ranges[i].timestamp_ms, &layout, &first), LEAFID_OK);
        CHECK_STATUS(leafid_last_id_at(ranges[i].timestamp_ms, &layout, &last), LEAFID_OK);
        CHECK_NUMBER(first, ranges[i].first);
        CHECK_NUMBER(last, ranges[i].last);
    }
    for (size_t i = 0; i < LENGTH(ranges_refused); i++) {
        leafid_layout layout = layout_of(ranges_refused[i].layout);
        int64_t id = 42;
        CHECK_STATUS(leafid_first_id_at(ranges_refused[i].timestamp_ms, &layout, &id), ranges_refused[i].error);
        CHECK_STATUS(leafid_last_id_at(ranges_refused[i].timestamp_ms, &layout, &id), ranges_refused[i].error);
        CHECK_NUMBER(id, 42);
    }
}

static void text_forms(void) {
    for (size_t i = 0; i < LENGTH(formatted); i++) {
        char text[LEAFID_ID_TEXT_SIZE];
        int64_t id = -1;
        size_t size = strlen(formatted[i].text) + 1;
        CHECK_STATUS(leafid_format_id(formatted[i].id, formatted[i].form, text, sizeof text), LEAFID_OK);
        CHECK(strcmp(text, formatted[i].text) == 0);
        CHECK_STATUS(leafid_parse_id(formatted[i].text, formatted[i].form, &id), LEAFID_OK);
        CHECK_NUMBER(id, formatted[i].id);
        /* Exact room is enough; with less nothing is written. */
        strcpy(text, "x");
        CHECK_STATUS(leafid_format_id(id, formatted[i].form, text, size - 1), LEAFID_INVALID_ARGUMENT);
        CHECK(strcmp(text, "x") == 0);
        CHECK_STATUS(leafid_format_id(id, formatted[i].form, text, size), LEAFID_OK);
        CHECK(strcmp(text, formatted[i].text) == 0);
    }
    for (size_t i = 0; i < LENGTH(forms_refused); i++) {
        int64_t id = 42;
        CHECK_STATUS(leafid_parse_id(forms_refused[i].text, forms_refused[i].form, &id), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(forms_refused[i].message);
        CHECK_NUMBER(id, 42);
    }
    for (size_t i = 0; i < LENGTH(ids_refused); i++) {
        for (int32_t form = LEAFID_TEXT_FORM_DECIMAL; form <= LEAFID_TEXT_FORM_UUID; form++) {
            char text[LEAFID_ID_TEXT_SIZE] = "x";
            CHECK_STATUS(leafid_format_id(ids_refused[i].id, form, text, sizeof text), LEAFID_INVALID_ARGUMENT);
            CHECK(strcmp(text, "x") == 0);
        }
    }
}

static void in_uuids(void) {
    for (size_t i = 0; i < LENGTH(uuids_valid); i++) {
        uint8_t uuid[16];
        int64_t id = -1;
        CHECK_STATUS(leafid_id_to_uuid(uuids_valid[i].id, uuid), LEAFID_OK);
        CHECK(memcmp(uuid, uuids_valid[i].bytes, sizeof uuid) == 0);
        CHECK_STATUS(leafid_uuid_to_id(uuid, &id), LEAFID_OK);
        CHECK_NUMBER(id, uuids_valid[i].id);
        CHECK(i == 0 || memcmp(uuids_valid[i - 1].bytes, uuid, sizeof uuid) < 0);
    }
    for (size_t i = 0; i < LENGTH(uuids_refused); i++) {
        int64_t id = 42;
        CHECK_STATUS(leafid_uuid_to_id(uuids_refused[i].uuid, &id), LEAFID_INVALID_ARGUMENT);
        CHECK_SAYS(uuids_refused[i].message);
        CHECK_NUMBER(id, 42);
    }
    for (size_t i = 0; i < LENGTH(ids_refused); i++) {
        uint8_t uuid[16] = {42};
        CHECK_STATUS(leafid_id_to_uuid(ids_refused[i].id, uuid), LEAFID_INVALID_ARGUMENT);
        CHECK_NUMBER(uuid[0], 42);
    }
}

static void refusals(void) {
    for (size_t i = 0; i < LENGTH(refused); i++) {
        leafid_layout layout = layout_of(refused[i].layout);
        int64_t id = 42;
        CHECK_STATUS(leafid_compose(refused[i].timestamp_ms, refused[i].worker_id, refused[i].sequence, &layout, &id),
                     refused[i].error);
        CHECK_NUMBER(id, 42);
    }
}

static void texts(void) {
    for (size_t i = 0; i < LENGTH(accepted_text); i++) {
        leafid_parts parts = {0};
        CHECK_STATUS(leafid_decode_text(accepted_text[i].text, NULL, &parts), LEAFID_OK);
        check_parts(parts, accepted_text[i].timestamp_ms, accepted_text[i].worker_id, accepted_text[i].sequence);
    }
    for (size_t i = 0; i < LENGTH(refused_text); i++) {
        leafid_parts parts = {7, 7, 7};
        CHECK_STATUS(leafid_decode_text(refused_text[i].id, NULL, &parts), refused_text[i].error);
        check_parts(parts, 7, 7, 7);
        /* Where the text is a number that C has, the number is refused as well. */
        char *end;
        int64_t id = strtoimax(refused_text[i].id, &end, 10);
        if (id < 0 && *end == '\0') CHECK_STATUS(leafid_decode(id, NULL, &parts), refused_text[i].error);
    }
}

static void floored(void) {
    for (size_t i = 0; i < LENGTH(floors); i++) {
        leafid_layout layout = layout_of(floors[i].layout);
        int64_t id = -1;
        leafid_parts parts = {0};
        CHECK_STATUS(leafid_compose(floors[i].timestamp_ms, floors[i].worker_id, floors[i].sequence, &layout, &id),
                     LEAFID_OK);
        CHECK_NUMBER(id, floors[i].id);
        CHECK_STATUS(leafid_decode(id, &layout, &parts), LEAFID_OK);
        check_parts(parts, floors[i].floored_ms, floors[i].worker_id, floors[i].sequence);
    }
}

static void too_many_bits(void) {
    for (size_t i = 0; i < LENGTH(refused_in_layout); i++) {
        leafid_layout layout = layout_of(refused_in_layout[i].layout);
        leafid_parts parts = {7, 7, 7};
        CHECK_STATUS(leafid_decode(refused_in_layout[i].id, &layout, &parts), refused_in_layout[i].error);
        check_parts(parts, 7, 7, 7);
    }
}

static void layouts_in_text(void) {
    for (size_t i = 0; i < LENGTH(layout_texts); i++) {
        leafid_layout layout = {0};
        CHECK_STATUS(leafid_layout_parse(layout_texts[i].text, &layout), layout_texts[i].status);
    }
}

int main(void) {
    test("layouts by name are those of the vectors, and end when they say", parsed_layouts);
    test("valid vectors compose and decode", composed_and_decoded);
    test("the ids of a tick have ends", ends_of_ticks);
    test("ids in each form of text", text_forms);
    test("ids inside of UUIDs", in_uuids);
    test("refused vectors are refused and write nothing", refusals);
    test("ids in text", texts);
    test("times are floored to the tick", floored);
    test("ids with more bits than the layout are refused", too_many_bits);
    test("layouts in text", layouts_in_text);
    return finish();
}
