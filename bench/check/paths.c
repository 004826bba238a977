/* Calls each hot path of leafid for C so often, and twice as often, for callgrind to count, as src/main.rs does. */
#include <leafid.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 32, BATCHES = 1, BATCH = 1000, ROUNDS = 41 };

static leafid_snowflake *flake;
static leafid_tag *tag;
static int64_t id, out[BATCH], *taken;
static leafid_layout layout;
static leafid_parts parts;
static volatile int made;

static void must(int status) {
  char text[512];
  if (status == LEAFID_OK) return;
  leafid_last_error(text, sizeof text);
  fprintf(stderr, "%s\n", text);
  exit(1);
}

/* What happens below this function, on its thread, is counted; it ends with a dump. */
__attribute__((noinline)) void counted(void (*call)(void), int times) {
  for (int i = 0; i < times; i++) call();
}

/* What was counted until here is forgotten, which takes a while; then the loop begins in a tick that has begun. */
__attribute__((noinline)) void settled(void (*call)(void), int calls, int times) {
  for (int i = 0; i < calls; i++) call();
  counted(call, times);
  made++; /* so that it ends here, not with a jump */
}

static void rounds(const char *path, void (*call)(void), int calls) {
  for (int round = 0; round < ROUNDS; round++)
    for (int times = calls; times <= 2 * calls; times += calls) {
      settled(call, calls, times);
      printf("%s\t%d\n", path, times);
    }
}

static void flake_next(void) { must(leafid_snowflake_next(flake, &id)); }
static void flake_fill(void) { must(leafid_snowflake_fill(flake, out, BATCH)); }
static void flake_take(void) {
  must(leafid_snowflake_take(flake, BATCH, &taken));
  leafid_ids_free(taken, BATCH);
}
static void tag_next(void) { must(leafid_tag_next(tag, &id)); }
static void tag_try_next(void) { must(leafid_tag_try_next(tag, &id)); }
static void tag_fill(void) { must(leafid_tag_fill(tag, out, BATCH)); }
static void tag_take(void) {
  must(leafid_tag_take(tag, BATCH, &taken));
  leafid_ids_free(taken, BATCH);
}
static void decode(void) { must(leafid_decode(id, &layout, &parts)); }
static void compose(void) {
  must(leafid_compose(parts.timestamp_ms, parts.worker_id, parts.sequence, &layout, &id));
}

/* A tick of which no loop here comes to the end. */
static leafid_snowflake *opened(const char *name, int32_t clock) {
  leafid_snowflake_options *options;
  leafid_snowflake *made;
  must(leafid_snowflake_options_new(&options));
  leafid_snowflake_options_set_worker_id(options, 1);
  leafid_snowflake_options_set_name(options, name);
  leafid_snowflake_options_set_state_dir(options, getenv("BENCH_STATE"));
  leafid_snowflake_options_set_layout(options, "41|5|17");
  leafid_snowflake_options_set_clock_source(options, clock);
  must(leafid_snowflake_open(options, &made));
  leafid_snowflake_options_free(options);
  return made;
}

static void snowflakes(void) {
  flake = opened("c-system", LEAFID_CLOCK_SOURCE_SYSTEM);
  rounds("leafid_snowflake_next", flake_next, CALLS);
  rounds("leafid_snowflake_fill 1000", flake_fill, BATCHES);
  rounds("leafid_snowflake_take 1000", flake_take, BATCHES);
  leafid_snowflake_free(flake);
  flake = opened("c-coarse", LEAFID_CLOCK_SOURCE_COARSE);
  rounds("leafid_snowflake_next, coarse clock", flake_next, CALLS);
  must(leafid_layout_parse("41|5|17", &layout));
  rounds("leafid_decode", decode, CALLS);
  rounds("leafid_compose", compose, CALLS);
  leafid_snowflake_free(flake);
}

/* A segment that is never used up. */
static int fetch(void *user_data, const char *name, int64_t step, leafid_segment *segment, char *error,
                 size_t error_cap) {
  static _Atomic int64_t next = 1;
  (void)user_data, (void)name, (void)step, (void)error, (void)error_cap;
  segment->start = next;
  next += INT64_C(1) << 40;
  segment->end = next;
  return LEAFID_OK;
}

static void tags(void) {
  leafid_segments_options *options;
  leafid_segments *segments;
  must(leafid_segments_options_new(&options));
  leafid_segments_options_set_fetch(options, fetch, NULL, NULL);
  leafid_segments_options_set_persist(options, 0);
  must(leafid_segments_open(options, &segments));
  leafid_segments_options_free(options);
  must(leafid_segments_tag(segments, "order", &tag));
  rounds("leafid_tag_next", tag_next, CALLS);
  rounds("leafid_tag_try_next", tag_try_next, CALLS);
  rounds("leafid_tag_fill 1000", tag_fill, BATCHES);
  rounds("leafid_tag_take 1000", tag_take, BATCHES);
  leafid_tag_free(tag);
  leafid_segments_free(segments);
}

int main(void) {
  snowflakes();
  tags();
  return 0;
}
