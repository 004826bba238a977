/* The C library of the core: the shared vectors, the spans, and what is refused. */
#include "leafid_core.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables are made for leafid.h. */
#define leafid_layout leafid_core_layout
#define leafid_status leafid_core_status
#define LEAFID_OK LEAFID_CORE_OK
#define LEAFID_INVALID_ARGUMENT LEAFID_CORE_INVALID_ARGUMENT
#define LEAFID_BEFORE_EPOCH LEAFID_CORE_BEFORE_EPOCH
#define LEAFID_TIME_EXHAUSTED LEAFID_CORE_TIME_EXHAUSTED
#define LEAFID_TEXT_FORM_DECIMAL LEAFID_CORE_TEXT_FORM_DECIMAL
#define LEAFID_TEXT_FORM_BASE32 LEAFID_CORE_TEXT_FORM_BASE32
#define LEAFID_TEXT_FORM_BASE62 LEAFID_CORE_TEXT_FORM_BASE62
#define LEAFID_TEXT_FORM_UUID LEAFID_CORE_TEXT_FORM_UUID
#define LEAFID_ORDER_WORKER_SEQUENCE LEAFID_CORE_ORDER_WORKER_SEQUENCE
#define LEAFID_ORDER_SEQUENCE_WORKER LEAFID_CORE_ORDER_SEQUENCE_WORKER
#include "vectors.inc"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define CHECK(condition) check((condition), #condition, __LINE__)
#define NUMBER(value, expected) number((int64_t)(value), (int64_t)(expected), #value, __LINE__)

static const int64_t NOW_MS = INT64_C(1567733700834);
static char why[300];
static int failures, passed, failed;

static void check(bool holds, const char *text, int line) {
    if (holds) return;
    failures++;
    printf("core.c:%d: not so: %s (%s)\n", line, text, why);
}

static void number(int64_t value, int64_t expected, const char *text, int line) {
    if (value == expected) return;
    failures++;
    printf("core.c:%d: %s is %lld, not %lld (%s)\n", line, text, (long long)value, (long long)expected, why);
}

static void test(const char *name, void (*run)(void)) {
    failures = 0;
    run();
    printf("%s - core: %s\n", failures ? "not ok" : "ok", name);
    *(failures ? &failed : &passed) += 1;
}

static bool says(const char *part) {
    return strstr(why, part) != NULL;
}

/* --- vectors */

static const leafid_core_layout *layout_of(const char *name) {
    for (size_t i = 0; i < LENGTH(layouts); i++) {
        if (strcmp(layouts[i].name, name) == 0) return &layouts[i].layout;
    }
    abort();
}

static leafid_core_status compose(int64_t ms, int64_t worker_id, int64_t sequence, const char *layout, int64_t *id) {
    return leafid_core_compose(ms, worker_id, sequence, layout_of(layout), id, why, sizeof why);
}

static leafid_core_status decode(int64_t id, const leafid_core_layout *layout, leafid_core_parts *parts) {
    return leafid_core_decode(id, layout, parts, why, sizeof why);
}

static void composed_and_decoded(void) {
    for (size_t i = 0; i < LENGTH(valid); i++) {
        int64_t id = -1, read = -1;
        leafid_core_parts parts = {0};
        NUMBER(compose(valid[i].timestamp_ms, valid[i].worker_id, valid[i].sequence, valid[i].layout, &id), LEAFID_CORE_OK);
        NUMBER(id, valid[i].id);
        NUMBER(leafid_core_parse_id(valid[i].text, &read, why, sizeof why), LEAFID_CORE_OK);
        NUMBER(read, valid[i].id);
        bool leaf = strcmp(valid[i].layout, "leaf") == 0;
        NUMBER(decode(id, leaf ? NULL : layout_of(valid[i].layout), &parts), LEAFID_CORE_OK);
        NUMBER(parts.timestamp_ms, valid[i].timestamp_ms);
        NUMBER(parts.worker_id, valid[i].worker_id);
        NUMBER(parts.sequence, valid[i].sequence);
    }
    for (size_t i = 0; i < LENGTH(floors); i++) {
        int64_t id = -1;
        leafid_core_parts parts = {0};
        NUMBER(compose(floors[i].timestamp_ms, floors[i].worker_id, floors[i].sequence, floors[i].layout, &id), LEAFID_CORE_OK);
        NUMBER(id, floors[i].id);
        NUMBER(decode(id, layout_of(floors[i].layout), &parts), LEAFID_CORE_OK);
        NUMBER(parts.timestamp_ms, floors[i].floored_ms);
    }
    for (size_t i = 0; i < LENGTH(accepted_text); i++) {
        int64_t id = -1;
        leafid_core_parts parts = {0};
        NUMBER(leafid_core_parse_id(accepted_text[i].text, &id, why, sizeof why), LEAFID_CORE_OK);
        NUMBER(decode(id, NULL, &parts), LEAFID_CORE_OK);
        NUMBER(parts.timestamp_ms, accepted_text[i].timestamp_ms);
        NUMBER(parts.sequence, accepted_text[i].sequence);
    }
}

static void ends_of_ticks(void) {
    for (size_t i = 0; i < LENGTH(ranges); i++) {
        const leafid_core_layout *layout = layout_of(ranges[i].layout);
        int64_t first = -1, last = -1;
        NUMBER(leafid_core_first_id_at(ranges[i].timestamp_ms, layout, &first, why, sizeof why), LEAFID_CORE_OK);
        NUMBER(leafid_core_last_id_at(ranges[i].timestamp_ms, layout, &last, why, sizeof why), LEAFID_CORE_OK);
        NUMBER(first, ranges[i].first);
        NUMBER(last, ranges[i].last);
    }
    for (size_t i = 0; i < LENGTH(ranges_refused); i++) {
        const leafid_core_layout *layout = layout_of(ranges_refused[i].layout);
        int64_t id = 42;
        NUMBER(leafid_core_first_id_at(ranges_refused[i].timestamp_ms, layout, &id, why, sizeof why), ranges_refused[i].error);
        NUMBER(leafid_core_last_id_at(ranges_refused[i].timestamp_ms, layout, &id, why, sizeof why), ranges_refused[i].error);
        NUMBER(id, 42);
    }
}

static leafid_core_status format_id(int64_t id, int32_t form, char *text, size_t cap) {
    return leafid_core_format_id(id, form, text, cap, why, sizeof why);
}

static leafid_core_status parse_id(const char *text, int32_t form, int64_t *id) {
    return leafid_core_parse_formatted_id(text, form, id, why, sizeof why);
}

static void text_forms(void) {
    int64_t id = -1;
    char text[LEAFID_CORE_ID_TEXT_SIZE];
    for (size_t i = 0; i < LENGTH(formatted); i++) {
        NUMBER(format_id(formatted[i].id, formatted[i].form, text, sizeof text), LEAFID_CORE_OK);
        CHECK(strcmp(text, formatted[i].text) == 0);
        NUMBER(parse_id(formatted[i].text, formatted[i].form, &id), LEAFID_CORE_OK);
        NUMBER(id, formatted[i].id);
        strcpy(text, "x");
        NUMBER(format_id(id, formatted[i].form, text, strlen(formatted[i].text)), LEAFID_CORE_INVALID_ARGUMENT);
        CHECK(strcmp(text, "x") == 0);
        NUMBER(format_id(id, formatted[i].form, text, strlen(formatted[i].text) + 1), LEAFID_CORE_OK);
    }
    id = 42;
    for (size_t i = 0; i < LENGTH(forms_refused); i++) {
        NUMBER(parse_id(forms_refused[i].text, forms_refused[i].form, &id), LEAFID_CORE_INVALID_ARGUMENT);
        CHECK(says(forms_refused[i].message));
    }
    for (size_t i = 0; i < LENGTH(ids_refused); i++) {
        NUMBER(format_id(ids_refused[i].id, 1, text, sizeof text), LEAFID_CORE_INVALID_ARGUMENT);
    }
    NUMBER(format_id(1, 4, text, sizeof text), LEAFID_CORE_INVALID_ARGUMENT);
    CHECK(says("form is 4; allowed: a leafid_core_text_form: 0 to 3"));
    NUMBER(format_id(1, 1, NULL, sizeof text), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(parse_id(NULL, 1, &id), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(parse_id("0", 0, NULL), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(id, 42);
}

static void parsed_layouts(void) {
    for (size_t i = 0; i < LENGTH(layout_texts); i++) {
        leafid_core_layout layout;
        NUMBER(leafid_core_layout_parse(layout_texts[i].text, &layout, why, sizeof why), layout_texts[i].status);
    }
    for (size_t i = 0; i < LENGTH(layouts); i++) {
        leafid_core_layout layout = {0};
        NUMBER(leafid_core_layout_parse(layouts[i].name, &layout, why, sizeof why), LEAFID_CORE_OK);
        if (strchr(layouts[i].name, '|') != NULL) layout.epoch_ms = layouts[i].layout.epoch_ms;
        CHECK(memcmp(&layout, &layouts[i].layout, sizeof layout) == 0);
        uint64_t tick = 0;
        NUMBER(leafid_core_tick_at(&layout, layout.epoch_ms + 5 * layout.tick_ms, &tick, why, sizeof why), LEAFID_CORE_OK);
        NUMBER(tick, 5);
    }
}

static void vectors_refused(void) {
    int64_t id = 42;
    leafid_core_parts parts = {.timestamp_ms = 42};
    for (size_t i = 0; i < LENGTH(refused); i++) {
        NUMBER(compose(refused[i].timestamp_ms, refused[i].worker_id, refused[i].sequence, refused[i].layout, &id),
               refused[i].error);
    }
    for (size_t i = 0; i < LENGTH(refused_text); i++) {
        leafid_core_status status = leafid_core_parse_id(refused_text[i].id, &id, why, sizeof why);
        if (status == LEAFID_CORE_OK) {
            status = decode(id, NULL, &parts);
            id = 42;
        }
        NUMBER(status, refused_text[i].error);
    }
    for (size_t i = 0; i < LENGTH(refused_in_layout); i++) {
        NUMBER(decode(refused_in_layout[i].id, layout_of(refused_in_layout[i].layout), &parts), refused_in_layout[i].error);
    }
    NUMBER(id, 42);
    NUMBER(parts.timestamp_ms, 42);
}

/* --- spans */

static uint64_t tick(int64_t ms) {
    uint64_t at = 0;
    NUMBER(leafid_core_tick_at(NULL, ms, &at, why, sizeof why), LEAFID_CORE_OK);
    return at;
}

static const leafid_core_rules PLAIN = {.max_backwards_ms = 5000};

static leafid_core_generator *opened(const leafid_core_rules *rules, int64_t from_ms) {
    leafid_core_generator *generator = NULL;
    NUMBER(leafid_core_generator_new(NULL, rules, 39, tick(from_ms), 0, &generator, why, sizeof why), LEAFID_CORE_OK);
    if (generator == NULL) abort();
    return generator;
}

static leafid_core_status grant(leafid_core_generator *generator, int64_t from_ms, int64_t ticks) {
    leafid_core_span span = {tick(from_ms), tick(from_ms) + (uint64_t)ticks};
    return leafid_core_generator_grant(generator, &span, why, sizeof why);
}

static leafid_core_status next(leafid_core_generator *generator, int64_t now_ms, int64_t *id) {
    why[0] = '\0';
    return leafid_core_generator_next(generator, now_ms, id, NULL, why, sizeof why);
}

static int64_t time_of(int64_t id) {
    leafid_core_parts parts = {0};
    NUMBER(decode(id, NULL, &parts), LEAFID_CORE_OK);
    NUMBER(parts.worker_id, 39);
    return parts.timestamp_ms;
}

static void only_within_spans(void) {
    leafid_core_generator *generator = opened(&PLAIN, NOW_MS);
    int64_t id = 42;
    NUMBER(next(generator, NOW_MS, &id), LEAFID_CORE_NEED_SPAN);
    CHECK(says("span"));
    NUMBER(id, 42);
    NUMBER(grant(generator, NOW_MS, 3), LEAFID_CORE_OK);
    NUMBER(next(generator, NOW_MS, &id), LEAFID_CORE_OK);
    NUMBER(time_of(id), NOW_MS);
    NUMBER(next(generator, NOW_MS + 2, &id), LEAFID_CORE_OK);
    NUMBER(next(generator, NOW_MS + 3, &id), LEAFID_CORE_NEED_SPAN);
    /* The tick that has begun continues. */
    NUMBER(next(generator, NOW_MS + 2, &id), LEAFID_CORE_OK);
    /* A gap is stepped over, whatever the clock reads. */
    NUMBER(grant(generator, NOW_MS + 50, 2), LEAFID_CORE_OK);
    NUMBER(next(generator, NOW_MS + 4, &id), LEAFID_CORE_OK);
    NUMBER(time_of(id), NOW_MS + 50);
    /* Spans that are none. */
    NUMBER(grant(generator, NOW_MS + 60, 0), LEAFID_CORE_INVALID_ARGUMENT);
    CHECK(says("span is ") && says("allowed"));
    leafid_core_span past = {0, (UINT64_C(1) << 41) + 1};
    NUMBER(leafid_core_generator_grant(generator, &past, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(next(generator, NOW_MS + 52, &id), LEAFID_CORE_NEED_SPAN);
    leafid_core_generator_free(generator);
}

static void a_restart_repeats_nothing(void) {
    /* Each run crashes with ids left in its span, and the clock of the next one reads less. */
    int64_t last = 0, clock = NOW_MS;
    uint64_t until = tick(clock);
    for (int run = 0; run < 20; run++) {
        leafid_core_generator *generator = NULL;
        leafid_core_span span;
        NUMBER(leafid_core_generator_new(NULL, NULL, 39, until, (uint64_t)run, &generator, why, sizeof why), LEAFID_CORE_OK);
        for (int count = 0; count < 3000; count++) {
            int64_t id = 0, soonest = 0;
            leafid_core_status status = leafid_core_generator_next(generator, clock, &id, &soonest, NULL, 0);
            if (status == LEAFID_CORE_OK) {
                CHECK(id > last);
                last = id;
            } else if (status == LEAFID_CORE_WAIT) {
                CHECK(soonest > clock);
                clock = soonest;
            } else {
                NUMBER(status, LEAFID_CORE_NEED_SPAN);
                status = leafid_core_generator_next_span(generator, clock, run, &span, why, sizeof why);
                if (status == LEAFID_CORE_WAIT) {
                    clock++;
                    continue;
                }
                NUMBER(status, LEAFID_CORE_OK);
                CHECK(span.from >= until && span.until <= tick(clock) + 5000);
                until = span.until;
                NUMBER(leafid_core_generator_grant(generator, &span, why, sizeof why), LEAFID_CORE_OK);
            }
        }
        leafid_core_generator_free(generator);
        clock -= 150;
    }
    CHECK(last > 0);
}

static void sealed_exactly(void) {
    leafid_core_generator *generator = opened(&PLAIN, NOW_MS);
    int64_t id;
    uint64_t unused = 0;
    NUMBER(grant(generator, NOW_MS, 3000), LEAFID_CORE_OK);
    NUMBER(next(generator, NOW_MS + 7, &id), LEAFID_CORE_OK);
    NUMBER(leafid_core_generator_first_unused(generator, &unused, why, sizeof why), LEAFID_CORE_OK);
    NUMBER(unused, tick(NOW_MS) + 8);
    unused = 0;
    NUMBER(leafid_core_generator_seal(generator, &unused, why, sizeof why), LEAFID_CORE_OK);
    NUMBER(unused, tick(NOW_MS) + 8);
    NUMBER(next(generator, NOW_MS + 9, &id), LEAFID_CORE_SEALED);
    NUMBER(leafid_core_generator_seal(generator, &unused, why, sizeof why), LEAFID_CORE_SEALED);
    leafid_core_span span;
    NUMBER(leafid_core_generator_next_span(generator, NOW_MS, 0, &span, why, sizeof why), LEAFID_CORE_SEALED);
    leafid_core_generator_free(generator);
}

static void a_clock_that_goes_back(void) {
    int64_t id, soonest = 0;
    leafid_core_generator *generator = opened(&PLAIN, NOW_MS);
    NUMBER(grant(generator, NOW_MS, 3000), LEAFID_CORE_OK);
    NUMBER(next(generator, NOW_MS, &id), LEAFID_CORE_OK);
    NUMBER(next(generator, NOW_MS - 5000, &id), LEAFID_CORE_OK);
    NUMBER(time_of(id), NOW_MS);
    NUMBER(next(generator, NOW_MS - 5001, &id), LEAFID_CORE_CLOCK_BACKWARDS);
    CHECK(says("5001 ms behind"));
    NUMBER(next(generator, 0, &id), LEAFID_CORE_BEFORE_EPOCH);
    NUMBER(next(generator, INT64_MAX, &id), LEAFID_CORE_TIME_EXHAUSTED);
    leafid_core_generator_free(generator);

    const leafid_core_rules wait = {.max_backwards_ms = 5, .on_clock_backwards = LEAFID_CORE_WAIT_FOR_CLOCK};
    generator = opened(&wait, NOW_MS);
    NUMBER(grant(generator, NOW_MS, 3000), LEAFID_CORE_OK);
    NUMBER(next(generator, NOW_MS, &id), LEAFID_CORE_OK);
    NUMBER(leafid_core_generator_next(generator, NOW_MS - 3, &id, &soonest, NULL, 0), LEAFID_CORE_WAIT);
    NUMBER(soonest, NOW_MS);
    leafid_core_generator_free(generator);
}

static void a_used_up_tick(void) {
    const leafid_core_rules borrow = {.max_backwards_ms = 5000, .on_exhausted = LEAFID_CORE_BORROW};
    for (int borrows = 0; borrows < 2; borrows++) {
        leafid_core_generator *generator = opened(borrows ? &borrow : &PLAIN, NOW_MS);
        int64_t id, soonest = 0;
        NUMBER(grant(generator, NOW_MS, 3000), LEAFID_CORE_OK);
        for (int i = 0; i < 4096; i++) NUMBER(next(generator, NOW_MS, &id), LEAFID_CORE_OK);
        leafid_core_status status = leafid_core_generator_next(generator, NOW_MS, &id, &soonest, why, sizeof why);
        NUMBER(status, borrows ? LEAFID_CORE_OK : LEAFID_CORE_WAIT);
        NUMBER(borrows ? time_of(id) : soonest, NOW_MS + 1);
        leafid_core_generator_free(generator);
    }
}

/* --- threads */

static leafid_core_generator *shared_generator;
enum { THREADS = 4, EACH = 20000 };

static void *taking(void *out) {
    int64_t *ids = out, clock = NOW_MS;
    for (int i = 0; i < EACH;) {
        int64_t soonest = clock;
        leafid_core_status status = leafid_core_generator_next(shared_generator, clock, &ids[i], &soonest, NULL, 0);
        if (status == LEAFID_CORE_OK) i++;
        else if (status == LEAFID_CORE_WAIT) clock = soonest;
        else return NULL;
    }
    return out;
}

static int ascending(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void threads_share(void) {
    static int64_t ids[THREADS * EACH];
    pthread_t threads[THREADS];
    shared_generator = opened(NULL, NOW_MS);
    NUMBER(grant(shared_generator, NOW_MS, 3000), LEAFID_CORE_OK);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, taking, &ids[i * EACH]) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *done = NULL;
        CHECK(pthread_join(threads[i], &done) == 0 && done != NULL);
    }
    qsort(ids, LENGTH(ids), sizeof *ids, ascending);
    int repeated = 0;
    for (size_t i = 1; i < LENGTH(ids); i++) repeated += ids[i] == ids[i - 1];
    NUMBER(repeated, 0);
    leafid_core_generator_free(shared_generator);
}

/* --- arguments */

static leafid_core_status opening(const leafid_core_rules *rules, int64_t worker_id, uint64_t from) {
    leafid_core_generator *generator = NULL;
    leafid_core_status status = leafid_core_generator_new(NULL, rules, worker_id, from, 0, &generator, why, sizeof why);
    leafid_core_generator_free(generator);
    return status;
}

static void arguments_refused(void) {
    int64_t id = 0;
    uint64_t unused;
    leafid_core_span span;
    leafid_core_rules rules = {.max_backwards_ms = 99};
    NUMBER(opening(&rules, 39, 0), LEAFID_CORE_INVALID_ARGUMENT);
    CHECK(says("max_backwards_ms is 99; allowed: 100 to 3600000"));
    rules = (leafid_core_rules){.max_backwards_ms = 5000, .on_exhausted = 2};
    NUMBER(opening(&rules, 39, 0), LEAFID_CORE_INVALID_ARGUMENT);
    rules = (leafid_core_rules){.max_backwards_ms = 5000, .on_clock_backwards = -1};
    NUMBER(opening(&rules, 39, 0), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(opening(NULL, 1024, 0), LEAFID_CORE_INVALID_ARGUMENT);
    CHECK(says("worker_id is 1024; allowed: 0 to 1023"));
    NUMBER(opening(NULL, -1, 0), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(opening(NULL, 39, UINT64_MAX), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(opening(NULL, 1023, (UINT64_C(1) << 41) - 1), LEAFID_CORE_OK);
    leafid_core_layout layout = {0};
    NUMBER(leafid_core_compose(NOW_MS, 0, 0, &layout, &id, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);

    leafid_core_generator *generator = opened(NULL, NOW_MS);
    NUMBER(leafid_core_layout_parse(NULL, &layout, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_layout_parse("leaf", NULL, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_layout_parse("\xff", &layout, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    CHECK(says("not UTF-8"));
    NUMBER(leafid_core_parse_id("1", NULL, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_generator_new(NULL, NULL, 1, 0, 0, NULL, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_generator_next(NULL, NOW_MS, &id, NULL, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_generator_next(generator, NOW_MS, NULL, NULL, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    CHECK(says("out is NULL"));
    NUMBER(leafid_core_generator_next_span(NULL, NOW_MS, 0, &span, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_generator_grant(generator, NULL, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_generator_seal(generator, NULL, why, sizeof why), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_generator_first_unused(generator, &unused, why, sizeof why), LEAFID_CORE_OK);
    NUMBER(unused, tick(NOW_MS));
    leafid_core_generator_free(generator);
    leafid_core_generator_free(NULL);
}

static void texts_are_cut(void) {
    /* The name of the layout is in the text, in letters of two bytes. */
    leafid_core_layout layout;
    char all[300], cut[300];
    const char *name = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";
    NUMBER(leafid_core_layout_parse(name, &layout, all, sizeof all), LEAFID_CORE_INVALID_ARGUMENT);
    CHECK(strstr(all, name) != NULL);
    for (size_t cap = 1; cap < strlen(all); cap++) {
        memset(cut, '#', sizeof cut);
        NUMBER(leafid_core_layout_parse(name, &layout, cut, cap), LEAFID_CORE_INVALID_ARGUMENT);
        size_t length = strlen(cut);
        CHECK(length < cap && length + 2 >= cap && strncmp(all, cut, length) == 0 && cut[cap] == '#');
        CHECK((all[length] & 0xc0) != 0x80);
    }
    NUMBER(leafid_core_layout_parse(name, &layout, NULL, 0), LEAFID_CORE_INVALID_ARGUMENT);
    NUMBER(leafid_core_layout_parse(name, &layout, NULL, 9), LEAFID_CORE_INVALID_ARGUMENT);
}

int main(void) {
    test("composed and decoded as the vectors say", composed_and_decoded);
    test("the ids of a tick have ends", ends_of_ticks);
    test("ids in each form of text", text_forms);
    test("layouts are read as the vectors say", parsed_layouts);
    test("refused as the vectors say", vectors_refused);
    test("ids lie within the spans", only_within_spans);
    test("a restart from the stored end repeats nothing", a_restart_repeats_nothing);
    test("a seal returns the first unused tick", sealed_exactly);
    test("a clock that goes back", a_clock_that_goes_back);
    test("a tick that is used up", a_used_up_tick);
    test("threads share a generator", threads_share);
    test("arguments that are refused", arguments_refused);
    test("texts of errors are cut between characters", texts_are_cut);
    return failed > 0 || passed == 0;
}
