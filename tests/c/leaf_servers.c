/* Segments from an unmodified Leaf, of two nodes, and from tinyid: the fake server speaks for both. */
#define _GNU_SOURCE
#include "counter.h"
#include "fake_server.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Segments in an id space of their own. */
static leafid_segments_options *from_servers(leafid_protocol protocol) {
    leafid_segments_options *options;
    REQUIRE_OK(leafid_segments_options_new(&options));
    CHECK_STATUS(leafid_segments_options_set_name(options, fresh_name()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_state_dir(options, fresh_dir()), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_protocol(options, protocol), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_timeout_ms(options, PATIENT_MS), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_request_timeout_ms(options, PATIENT_MS), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_connect_timeout_ms(options, PATIENT_MS), LEAFID_OK);
    return options;
}

/* From both nodes; `first`: the one that is asked first. */
static leafid_segments_options *from_leaf(struct leaf *leaf, int first) {
    leafid_segments_options *options = from_servers(LEAFID_PROTOCOL_LEAF);
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS(leafid_segments_options_add_server(options, leaf->nodes[i ^ first].url), LEAFID_OK);
    }
    return options;
}

/* Opens, gives the options back, and answers a tag, with which the segments are freed. */
static leafid_tag *open_tag(leafid_segments_options *options, const char *name) {
    leafid_segments *segments;
    leafid_tag *tag;
    leafid_status status = leafid_segments_open(options, &segments);
    leafid_segments_options_free(options);
    REQUIRE_OK(status);
    REQUIRE_OK(leafid_segments_tag(segments, name, &tag));
    leafid_segments_free(segments);
    return tag;
}

struct taker {
    pthread_t thread;
    leafid_tag *tag;
    int kind, port;
    size_t count;
    struct ids ids;
};

/* In each of the ways that there are. */
static leafid_status take_some(struct taker *taker) {
    int64_t few[50], *taken;
    leafid_status status;
    switch (taker->kind) {
    case 0:
        status = leafid_tag_next(taker->tag, few);
        if (status == LEAFID_OK) ids_add(&taker->ids, few, 1);
        return status;
    case 1:
        status = leafid_tag_take(taker->tag, 50, &taken);
        if (status == LEAFID_OK) ids_add(&taker->ids, taken, 50), leafid_ids_free(taken, 50);
        return status;
    case 2:
        status = leafid_tag_fill(taker->tag, few, 50);
        if (status == LEAFID_OK) ids_add(&taker->ids, few, 50);
        return status;
    case 3:
        status = leafid_tag_try_next(taker->tag, few);
        if (status == LEAFID_OK) ids_add(&taker->ids, few, 1);
        if (status != LEAFID_WOULD_BLOCK) return status;
        pause_ms(1);
        return LEAFID_OK;
    default: {
        char body[64] = "";
        if (!CHECK_NUMBER(plain_request(taker->port, "GET", "/api/segment/get/order", "", body, sizeof body), 200)) {
            return LEAFID_INTERNAL;
        }
        *few = atoll(body);
        ids_add(&taker->ids, few, 1);
        return LEAFID_OK;
    }
    }
}

static void *take_all(void *given) {
    struct taker *taker = given;
    while (taker->ids.count < taker->count) {
        if (!CHECK_STATUS(take_some(taker), LEAFID_OK)) break;
    }
    return NULL;
}

static void none_twice(void) {
    struct leaf leaf;
    leafid_tag *tags[2];
    struct taker takers[5] = {0};
    struct ids all = {0};
    leaf_start(&leaf);
    for (int i = 0; i < 2; i++) tags[i] = open_tag(from_leaf(&leaf, i), "order");
    for (int i = 0; i < 5; i++) {
        takers[i].kind = i;
        takers[i].tag = tags[i % 2];
        takers[i].port = leaf.nodes[1].port;
        takers[i].count = scaled(i == 4 ? 300 : 1000);
        REQUIRE(pthread_create(&takers[i].thread, NULL, take_all, &takers[i]) == 0);
    }
    for (int i = 0; i < 5; i++) {
        pthread_join(takers[i].thread, NULL);
        CHECK(takers[i].ids.count >= takers[i].count);
        ids_add(&all, takers[i].ids.items, takers[i].ids.count);
        ids_free(&takers[i].ids);
    }
    CHECK_NUMBER((int64_t)ids_repeated(&all), 0);
    CHECK(all.count && all.items[0] > 0);
    CHECK_NUMBER((int64_t)leaf_not_given(&leaf, "order", "segment", &all), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_NUMBER((int64_t)stats_of(tags[i]).failures, 0);
        leafid_tag_free(tags[i]);
    }
    ids_free(&all);
    leaf_end(&leaf);
}

static void blocks(void) {
    struct leaf leaf;
    struct ids ids = {0}, numbers = {0};
    const size_t count = scaled(2000);
    leaf_start(&leaf);
    leafid_segments_options *options = from_leaf(&leaf, 0);
    CHECK_STATUS(leafid_segments_options_set_block_size(options, 100), LEAFID_OK);
    leafid_tag *tag = open_tag(options, "order-x100");
    int64_t *taken;
    REQUIRE_OK(leafid_tag_take(tag, count, &taken));
    ids_add(&ids, taken, count);
    leafid_ids_free(taken, count);
    for (size_t i = 0; i < ids.count; i++) {
        int64_t number = ids.items[i] / 100;
        if (i % 100 == 0) ids_add(&numbers, &number, 1);
        CHECK_NUMBER(number, numbers.items[numbers.count - 1]);
    }
    CHECK_NUMBER((int64_t)ids_repeated(&ids), 0);
    CHECK_NUMBER((int64_t)ids_repeated(&numbers), 0);
    CHECK_NUMBER((int64_t)leaf_not_given(&leaf, "order-x100", "segment", &numbers), 0);
    leafid_tag_free(tag);
    ids_free(&ids);
    ids_free(&numbers);
    leaf_end(&leaf);
}

static void snowflakes(void) {
    struct leaf leaf;
    int64_t items[200];
    leaf_start(&leaf);
    leafid_segments_options *options = from_leaf(&leaf, 0);
    CHECK_STATUS(leafid_segments_options_set_protocol(options, LEAFID_PROTOCOL_LEAF_SNOWFLAKE), LEAFID_OK);
    leafid_tag *tag = open_tag(options, "order");
    struct ids ids = {0};
    REQUIRE_OK(leafid_tag_fill(tag, items, 200));
    ids_add(&ids, items, 200);
    CHECK_NUMBER((int64_t)ids_repeated(&ids), 0);
    CHECK_NUMBER((int64_t)leaf_not_given(&leaf, "order", "snowflake", &ids), 0);
    /* Leaf's layout, and a node's worker id. */
    leafid_parts parts;
    CHECK_STATUS(leafid_decode(ids.items[0], NULL, &parts), LEAFID_OK);
    CHECK(parts.worker_id == 1 || parts.worker_id == 2);
    CHECK(llabs(parts.timestamp_ms - now_ms()) < 60000);
    leafid_tag_free(tag);
    ids_free(&ids);
    leaf_end(&leaf);
}

/* Two databases, the one with the even ids and the one with the odd ones; the token in tinyid's own place. */
static void tinyid(void) {
    struct fake_server server;
    struct ids ids = {0};
    int64_t items[1000], even = 0, id = 42;
    fake_server_start(&server, NULL);
    say_to(&server, "{\"do\":\"token\",\"token\":\"s&cret\"}");
    say_to(&server, "{\"do\":\"tag\",\"tag\":\"order\",\"delta\":2,\"step\":20}");
    leafid_segments_options *options = from_servers(LEAFID_PROTOCOL_TINYID);
    CHECK_STATUS(leafid_segments_options_add_server(options, server.url), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_token(options, "s&cret"), LEAFID_OK);
    leafid_tag *tag = open_tag(options, "order");
    REQUIRE_OK(leafid_tag_fill(tag, items, 1000));
    ids_add(&ids, items, 1000);
    CHECK_NUMBER((int64_t)ids_repeated(&ids), 0);
    for (size_t i = 0; i < ids.count; i++) even += ids.items[i] % 2 == 0;
    CHECK(ids.items[0] > 0 && even > 0 && even < 1000);
    leafid_tag_free(tag);
    /* A wrong token has an empty body for an answer. */
    options = from_servers(LEAFID_PROTOCOL_TINYID);
    CHECK_STATUS(leafid_segments_options_add_server(options, server.url), LEAFID_OK);
    CHECK_STATUS(leafid_segments_options_set_token(options, "another"), LEAFID_OK);
    tag = open_tag(options, "order");
    await_failure(tag);
    CHECK_STATUS(leafid_tag_next_within(tag, 50, &id), LEAFID_SEGMENT_UNAVAILABLE);
    CHECK_SAYS("tiny_id_token");
    CHECK_NUMBER(id, 42);
    leafid_tag_free(tag);
    ids_free(&ids);
    fake_server_end(&server);
}

int main(void) {
    test("ids of two nodes of Leaf, taken in every way beside a plain client: none twice", none_twice);
    test("blocks of ids by block_size", blocks);
    test("ids of Leaf's snowflake mode", snowflakes);
    test("segments of tinyid from two databases", tinyid);
    return finish();
}
