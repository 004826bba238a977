/*
 * leafid-core: the snowflakes of leafid without an operating system. For firmware, kernels and sandboxes.
 *
 * Made by cbindgen from the crate leafid-core-c (`make header`): do not edit.
 *
 * There is no clock, no file, no thread and no lock in it: the caller reads the clock, stores one number, and waits. It
 * needs malloc, aligned_alloc, free, abort, strlen and the mem* functions of C, and atomic operations on 64
 * bits. If there is no memory, it calls abort. libleafid does all of this itself and contains this library: link one of the two.
 *
 * Ids are unique if
 *
 *   - no two generators have the same worker id at the same time, and
 *   - the end of each span (`until`) is durable before leafid_core_generator_grant, and the next generator of the worker
 *     id begins at the durable `until`. A generator issues no id outside of its spans, whatever the clock reads.
 *
 * Rules for every function:
 *
 *   - It returns a leafid_core_status; the numbers are those of leafid.h. Results are written only on success.
 *   - For an error, `error` gets a text that says what happened and what to do: UTF-8, at most `error_cap` - 1 bytes and a
 *     NUL. It may be NULL with `error_cap` 0.
 *   - A pointer is NULL or valid. NULL where it is not allowed is LEAFID_CORE_INVALID_ARGUMENT. A `layout` of NULL is
 *     Leaf's. Input text is UTF-8 and ends with a NUL.
 *   - All threads may use a generator at once. With `error_cap` 0 leafid_core_generator_next needs no memory and no lock, so
 *     that interrupt handlers may call it.
 *
 * examples/embedded.c keeps `until` in a file.
 */


#ifndef LEAFID_CORE_H
#define LEAFID_CORE_H

#include <stddef.h>
#include <stdint.h>

/* The compiler warns if you do not check the status of a function that gives ids. */
#if defined(__GNUC__)
#define LEAFID_CORE_MUST_USE __attribute__((warn_unused_result))
#else
#define LEAFID_CORE_MUST_USE
#endif

/* The version of this header. */
#define LEAFID_CORE_VERSION "0.1.0"

/**
 * Bytes that hold any text of leafid_core_format_id, its NUL included.
 */
#define LEAFID_CORE_ID_TEXT_SIZE 37

/**
 * The result of a function: 0 is success. The numbers never change.
 */
enum leafid_core_status
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Success: the results have been written.
   */
  LEAFID_CORE_OK = 0,
  /**
   * An argument is outside the allowed values.
   */
  LEAFID_CORE_INVALID_ARGUMENT = 1,
  /**
   * The clock is further behind the last id than the rules allow. Read the clock once more before you report this.
   */
  LEAFID_CORE_CLOCK_BACKWARDS = 2,
  /**
   * The time is before the layout's epoch.
   */
  LEAFID_CORE_BEFORE_EPOCH = 3,
  /**
   * The layout's timestamp bits are used up.
   */
  LEAFID_CORE_TIME_EXHAUSTED = 4,
  /**
   * The span is used up: grant the next one and call again.
   */
  LEAFID_CORE_NEED_SPAN = 7,
  /**
   * Not yet: call again later.
   */
  LEAFID_CORE_WAIT = 14,
  /**
   * The generator was sealed.
   */
  LEAFID_CORE_SEALED = 15,
  /**
   * A defect in leafid.
   */
  LEAFID_CORE_INTERNAL = 16
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_core_status leafid_core_status;
#else
typedef int32_t leafid_core_status;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * The order of worker id and sequence below the timestamp.
 */
enum leafid_core_order
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Timestamp, worker id, sequence: Leaf's and Twitter's.
   */
  LEAFID_CORE_ORDER_WORKER_SEQUENCE = 0,
  /**
   * Timestamp, sequence, worker id: Sonyflake's.
   */
  LEAFID_CORE_ORDER_SEQUENCE_WORKER = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_core_order leafid_core_order;
#else
typedef int32_t leafid_core_order;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * What a generator does when the clock is behind its last id.
 */
enum leafid_core_on_clock_backwards
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * It continues with the logical clock, which never goes back.
   */
  LEAFID_CORE_CONTINUE = 0,
  /**
   * It waits until the clock has caught up (Leaf's rule).
   */
  LEAFID_CORE_WAIT_FOR_CLOCK = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_core_on_clock_backwards leafid_core_on_clock_backwards;
#else
typedef int32_t leafid_core_on_clock_backwards;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * What a generator does when the sequence of a tick is used up.
 */
enum leafid_core_on_exhausted
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * It waits for the next tick of the clock.
   */
  LEAFID_CORE_WAIT_FOR_TICK = 0,
  /**
   * It uses the next tick ahead of the clock, within max_backwards_ms.
   */
  LEAFID_CORE_BORROW = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_core_on_exhausted leafid_core_on_exhausted;
#else
typedef int32_t leafid_core_on_exhausted;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * How an id is written as text. Each form has one text for an id, and leafid_core_parse_formatted_id accepts no other.
 */
enum leafid_core_text_form
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Decimal digits without leading zeros. Their order as text is not the order of the ids.
   */
  LEAFID_CORE_TEXT_FORM_DECIMAL = 0,
  /**
   * Crockford's base32 in upper case: 13 characters, whose order as bytes is the order of the ids.
   */
  LEAFID_CORE_TEXT_FORM_BASE32 = 1,
  /**
   * 11 characters of 0-9, A-Z and a-z, whose order as bytes is the order of the ids.
   */
  LEAFID_CORE_TEXT_FORM_BASE62 = 2,
  /**
   * The id in a UUID of version 8 (RFC 9562), in lower case: 36 characters, whose order as bytes is the order of the ids.
   */
  LEAFID_CORE_TEXT_FORM_UUID = 3
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_core_text_form leafid_core_text_form;
#else
typedef int32_t leafid_core_text_form;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * A generator of one worker id.
 */
typedef struct leafid_core_generator leafid_core_generator;

/**
 * The meaning of the 64 bits of an id. Fill it with leafid_core_layout_parse, then change fields. Every function that
 * takes a layout checks it: at most 63 bits together, and an end at or before 2^53 ms.
 */
typedef struct leafid_core_layout {
  /**
   * Unix milliseconds of tick 0. Leaf's: 1288834974657.
   */
  int64_t epoch_ms;
  /**
   * Milliseconds per tick, 1 to 3600000. Leaf's: 1.
   */
  int64_t tick_ms;
  /**
   * Bits of the tick counter, 1 to 62. Leaf's: 41.
   */
  int32_t timestamp_bits;
  /**
   * Bits of the worker id, 0 to 31. Leaf's: 10.
   */
  int32_t worker_bits;
  /**
   * Bits of the sequence, 0 to 31. Leaf's: 12.
   */
  int32_t sequence_bits;
  /**
   * A leafid_core_order. Leaf's: LEAFID_CORE_ORDER_WORKER_SEQUENCE.
   */
  int32_t order;
} leafid_core_layout;

/**
 * The parts of an id.
 */
typedef struct leafid_core_parts {
  /**
   * Unix milliseconds, floored to the layout's tick.
   */
  int64_t timestamp_ms;
  /**
   * The worker id.
   */
  uint32_t worker_id;
  /**
   * The sequence number within the tick.
   */
  uint32_t sequence;
} leafid_core_parts;

/**
 * The rules of a generator.
 */
typedef struct leafid_core_rules {
  /**
   * How far the clock may be behind the last id, in milliseconds: 100 to 3600000, and 0 to 3600000 under
   * LEAFID_CORE_WAIT_FOR_CLOCK. Default: 5000.
   */
  int64_t max_backwards_ms;
  /**
   * A leafid_core_on_clock_backwards. Default: LEAFID_CORE_CONTINUE.
   */
  int32_t on_clock_backwards;
  /**
   * A leafid_core_on_exhausted. Default: LEAFID_CORE_WAIT_FOR_TICK.
   */
  int32_t on_exhausted;
  /**
   * A new tick starts its sequence below this number, but at most at an eighth of the sequence; 0 and 1 always start
   * at 0. Default: 100.
   */
  uint32_t random_start;
} leafid_core_rules;

/**
 * Ticks from `from` to below `until`.
 */
typedef struct leafid_core_span {
  /**
   * The first tick.
   */
  uint64_t from;
  /**
   * The first tick after the span. Store this durably before the span is granted.
   */
  uint64_t until;
} leafid_core_span;

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * Parses a layout: a preset ("leaf", "uid-generator", "yitter", "sonyflake", "js-safe") or bits of timestamp, worker
 * id and sequence as in "35|5|23" (with Leaf's epoch, ticks of 1 ms, worker id above sequence).
 */
leafid_core_status leafid_core_layout_parse(const char *text,
                                            struct leafid_core_layout *out,
                                            char *error,
                                            size_t error_cap);

/**
 * The tick of a time: the first one of a new worker id's generator.
 */
leafid_core_status leafid_core_tick_at(const struct leafid_core_layout *layout,
                                       int64_t now_ms,
                                       uint64_t *out,
                                       char *error,
                                       size_t error_cap);

/**
 * Takes an id apart.
 */
leafid_core_status leafid_core_decode(int64_t id,
                                      const struct leafid_core_layout *layout,
                                      struct leafid_core_parts *out,
                                      char *error,
                                      size_t error_cap);

/**
 * Makes the id of these parts; `timestamp_ms` is Unix milliseconds and is floored to the tick. For queries by time and
 * for tests: such an id is not unique.
 */
leafid_core_status leafid_core_compose(int64_t timestamp_ms,
                                       int64_t worker_id,
                                       int64_t sequence,
                                       const struct leafid_core_layout *layout,
                                       int64_t *out,
                                       char *error,
                                       size_t error_cap);

/**
 * The smallest id of the tick that contains this time, Unix milliseconds. With leafid_core_last_id_at it finds the ids
 * of a period.
 */
leafid_core_status leafid_core_first_id_at(int64_t timestamp_ms,
                                           const struct leafid_core_layout *layout,
                                           int64_t *out,
                                           char *error,
                                           size_t error_cap);

/**
 * The largest id of the tick that contains this time.
 */
leafid_core_status leafid_core_last_id_at(int64_t timestamp_ms,
                                          const struct leafid_core_layout *layout,
                                          int64_t *out,
                                          char *error,
                                          size_t error_cap);

/**
 * Reads an id from decimal text: ASCII digits only, no sign, no space, 0 to 9223372036854775807.
 */
leafid_core_status leafid_core_parse_id(const char *text, int64_t *out, char *error, size_t error_cap);

/**
 * Writes the text of an id and a NUL. `form` is a leafid_core_text_form. `cap` is the size of `buf`:
 * LEAFID_CORE_ID_TEXT_SIZE is enough. A text that does not fit is not cut.
 */
leafid_core_status leafid_core_format_id(int64_t id,
                                         int32_t form,
                                         char *buf,
                                         size_t cap,
                                         char *error,
                                         size_t error_cap);

/**
 * Reads the text of an id: only that which leafid_core_format_id writes. `form` is a leafid_core_text_form.
 */
leafid_core_status leafid_core_parse_formatted_id(const char *text,
                                                  int32_t form,
                                                  int64_t *out,
                                                  char *error,
                                                  size_t error_cap);

/**
 * Makes a generator that has no span yet. Free it with leafid_core_generator_free.
 *
 * `from` is its first tick: the stored `until` of the worker id's last span, or leafid_core_tick_at if no generator ever
 * had the worker id. `seed` chooses where the sequence of a tick starts, see random_start. `rules` NULL: the defaults.
 */
leafid_core_status leafid_core_generator_new(const struct leafid_core_layout *layout,
                                             const struct leafid_core_rules *rules,
                                             int64_t worker_id,
                                             uint64_t from,
                                             uint64_t seed,
                                             struct leafid_core_generator **out,
                                             char *error,
                                             size_t error_cap);

/**
 * Issues one id. `now_ms` is the clock in Unix milliseconds, read for this call.
 *
 * LEAFID_CORE_WAIT writes the time of the clock at which to call again to `wait_until_ms`, which may be NULL.
 * LEAFID_CORE_NEED_SPAN: leafid_core_generator_next_span has the next span. Both change nothing, and so does an error.
 */
leafid_core_status leafid_core_generator_next(const struct leafid_core_generator *generator,
                                              int64_t now_ms,
                                              int64_t *out,
                                              int64_t *wait_until_ms,
                                              char *error,
                                              size_t error_cap);

/**
 * The longest span that the rules allow now. It ends at most 3 s ahead of the clock; `age_ms`, the time since the
 * generator was made, makes the first ones shorter, so that a crash loop does not run ahead. Store `until` durably, then
 * grant it.
 *
 * LEAFID_CORE_WAIT: the generator is too far ahead of the clock for another span.
 */
leafid_core_status leafid_core_generator_next_span(const struct leafid_core_generator *generator,
                                                   int64_t now_ms,
                                                   int64_t age_ms,
                                                   struct leafid_core_span *out,
                                                   char *error,
                                                   size_t error_cap);

/**
 * Grants a span, whose `until` is durable. It starts where the last one ended, or above; ticks in between are never
 * used.
 */
leafid_core_status leafid_core_generator_grant(const struct leafid_core_generator *generator,
                                               const struct leafid_core_span *span,
                                               char *error,
                                               size_t error_cap);

/**
 * The first tick without an issued id.
 *
 * LEAFID_CORE_SEALED after leafid_core_generator_seal.
 */
leafid_core_status leafid_core_generator_first_unused(const struct leafid_core_generator *generator,
                                                      uint64_t *out,
                                                      char *error,
                                                      size_t error_cap);

/**
 * Seals the generator: it issues no more ids. Writes the first tick without an issued id. Store that in place of the
 * last `until`, and the next generator skips nothing.
 *
 * LEAFID_CORE_SEALED if it was sealed before.
 */
leafid_core_status leafid_core_generator_seal(const struct leafid_core_generator *generator,
                                              uint64_t *out,
                                              char *error,
                                              size_t error_cap);

/**
 * Frees a generator. NULL does nothing.
 */
void leafid_core_generator_free(struct leafid_core_generator *generator);

#ifdef __cplusplus
}  // extern "C"
#endif  /* __cplusplus */

#endif  /* LEAFID_CORE_H */
