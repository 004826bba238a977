/*
 * leafid: unique 64-bit ids made in the caller's own process.
 *
 * Made by cbindgen from the crate leafid-c (`make header`): do not edit.
 *
 * What holds for every function:
 *
 *   - It answers a leafid_status. LEAFID_OK is 0; for any other, leafid_last_error has a text that says what happened
 *     and what to do. Exceptions are the functions that cannot fail: those that free, and those that answer text.
 *   - Results go through pointers and are written on success only. Do look at the status: the id variable of a call
 *     that failed still holds the id of the call before, and using it twice makes a duplicate.
 *   - A pointer is NULL or valid for what the function does with it. NULL where it is not allowed is
 *     LEAFID_INVALID_ARGUMENT. Text in is UTF-8 and ends with a NUL; it is copied. Text out is UTF-8.
 *   - Enums are passed as int32_t; a number that is none of the enum is LEAFID_INVALID_ARGUMENT.
 *   - A handle may be used by all threads at once; options by one at a time. `_close` may be called at any time and
 *     twice. `_free` is called once, when nobody uses the handle; `_free(NULL)` does nothing.
 *   - Nothing of leafid may be called from a signal handler, and from a child of a process with several threads only
 *     as far as that child may call malloc.
 *   - The library stays loaded once it is (-z nodelete).
 *
 * Example:
 *
 *     leafid_snowflake_options *options;
 *     leafid_snowflake *flake;
 *     int64_t id;
 *
 *     if (leafid_snowflake_options_new(&options) != LEAFID_OK) return 1;
 *     leafid_snowflake_options_set_worker(options, "0-31");
 *     leafid_snowflake_options_set_state_dir(options, "/var/lib/orders");
 *     leafid_status status = leafid_snowflake_open(options, &flake);
 *     leafid_snowflake_options_free(options);
 *     if (status != LEAFID_OK) {
 *         char text[512];
 *         leafid_last_error(text, sizeof text);
 *         fprintf(stderr, "%s\n", text);
 *         return 1;
 *     }
 *     if (leafid_snowflake_next(flake, &id) == LEAFID_OK) printf("%lld\n", (long long)id);
 *     leafid_snowflake_free(flake);
 */


#ifndef LEAFID_H
#define LEAFID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The compiler warns when the status of a function that gives ids is not looked at. */
#if defined(__GNUC__)
#define LEAFID_MUST_USE __attribute__((warn_unused_result))
#else
#define LEAFID_MUST_USE
#endif

/* The version of this header. */
#define LEAFID_VERSION "0.1.0"

/**
 * What a function answers: 0 is success, everything else an error whose text is in leafid_last_error. The numbers
 * never change.
 */
enum leafid_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Success: the results have been written.
   */
  LEAFID_OK = 0,
  /**
   * An option or an argument is not of the allowed kind or outside the allowed values.
   */
  LEAFID_INVALID_ARGUMENT = 1,
  /**
   * The clock is further behind the last id than the bound allows.
   */
  LEAFID_CLOCK_BACKWARDS = 2,
  /**
   * The clock, or the time asked for, lies before the layout's epoch.
   */
  LEAFID_BEFORE_EPOCH = 3,
  /**
   * The layout's timestamp bits are used up.
   */
  LEAFID_TIME_EXHAUSTED = 4,
  /**
   * Another generator holds the worker id, or every id of the range.
   */
  LEAFID_WORKER_IN_USE = 5,
  /**
   * The worker id is no longer this generator's.
   */
  LEAFID_WORKER_LOST = 6,
  /**
   * The state directory or file cannot be read, written or locked.
   */
  LEAFID_STATE_IO = 7,
  /**
   * The state file is damaged or not leafid's.
   */
  LEAFID_STATE_CORRUPT = 8,
  /**
   * The state file was written with another layout or epoch.
   */
  LEAFID_STATE_MISMATCH = 9,
  /**
   * The source of segments does not know the tag.
   */
  LEAFID_UNKNOWN_TAG = 10,
  /**
   * No segment could be had in time.
   */
  LEAFID_SEGMENT_UNAVAILABLE = 11,
  /**
   * The source gave ids that it had given before.
   */
  LEAFID_SEGMENT_REGRESSED = 12,
  /**
   * The source's answer is not a valid one.
   */
  LEAFID_SOURCE_INVALID = 13,
  /**
   * The call would have to wait where waiting is not allowed.
   */
  LEAFID_WOULD_BLOCK = 14,
  /**
   * The handle was closed.
   */
  LEAFID_CLOSED = 15,
  /**
   * A defect in leafid.
   */
  LEAFID_INTERNAL = 16,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum leafid_status leafid_status;
#else
typedef int32_t leafid_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Where worker id and sequence stand below the timestamp.
 */
enum leafid_order
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Timestamp, worker id, sequence: Leaf's and Twitter's.
   */
  LEAFID_ORDER_WORKER_SEQUENCE = 0,
  /**
   * Timestamp, sequence, worker id: Sonyflake's.
   */
  LEAFID_ORDER_SEQUENCE_WORKER = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum leafid_order leafid_order;
#else
typedef int32_t leafid_order;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a generator does when the clock is behind its last id.
 */
enum leafid_on_clock_backwards
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Goes on upon the logical clock, which never goes back. The default.
   */
  LEAFID_ON_CLOCK_BACKWARDS_CONTINUE = 0,
  /**
   * Waits until the clock has caught up: Leaf's rule.
   */
  LEAFID_ON_CLOCK_BACKWARDS_WAIT = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum leafid_on_clock_backwards leafid_on_clock_backwards;
#else
typedef int32_t leafid_on_clock_backwards;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What a generator does when a tick's sequence is used up.
 */
enum leafid_on_exhausted
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Waits for the clock's next tick. The default.
   */
  LEAFID_ON_EXHAUSTED_WAIT = 0,
  /**
   * Steps on ahead of the clock, within the bound of max_backwards_ms.
   */
  LEAFID_ON_EXHAUSTED_BORROW = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum leafid_on_exhausted leafid_on_exhausted;
#else
typedef int32_t leafid_on_exhausted;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A generator of snowflake ids. All threads may use it at the same time. A process forked from this one may go on
 * using it: it claims a worker id anew by itself, at its first call. Ids of one generator strictly increase.
 */
typedef struct leafid_snowflake leafid_snowflake;

/**
 * The options of a snowflake. For one thread at a time; may be used for many generators. A setter that refuses its
 * value returns the error, changes nothing else, and leafid_snowflake_open returns the first such error again, so
 * that only its status need be looked at.
 */
typedef struct leafid_snowflake_options leafid_snowflake_options;

/**
 * What the 64 bits of an id mean. Fill it with leafid_layout_parse and change what differs; it is checked wherever it
 * is used. At most 63 bits together, and an end at or before 2^53 ms.
 */
typedef struct leafid_layout {
  /**
   * Unix milliseconds of tick 0. Leaf's: 1288834974657.
   */
  int64_t epoch_ms;
  /**
   * Milliseconds a tick, 1 to 3600000. Leaf's: 1.
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
   * A leafid_order. Leaf's: LEAFID_ORDER_WORKER_SEQUENCE.
   */
  int32_t order;
} leafid_layout;

/**
 * What an id says.
 */
typedef struct leafid_parts {
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
} leafid_parts;

/**
 * The numbers of a generator. Fields are only ever added at the end: see leafid_snowflake_stats.
 */
typedef struct leafid_snowflake_stats_t {
  /**
   * The worker id.
   */
  int64_t worker_id;
  /**
   * The layout's epoch, Unix milliseconds.
   */
  int64_t epoch_ms;
  /**
   * Unix milliseconds at which the layout ends.
   */
  int64_t expires_at_ms;
  /**
   * Unix milliseconds up to which ticks are durably this generator's.
   */
  int64_t reserved_until_ms;
  /**
   * How far the last id is ahead of the clock, milliseconds; 0 when it is not.
   */
  int64_t lead_ms;
  /**
   * Open handles of this generator in this process.
   */
  uint64_t handles;
  /**
   * Spans made durable since it was opened.
   */
  uint64_t renewals;
  /**
   * Attempts at it that failed; leafid_snowflake_last_error has the text of the last one.
   */
  uint64_t renewal_failures;
} leafid_snowflake_stats_t;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The name of a status: "ok", "invalid_argument", "clock_backwards" and so on; "unknown" for any other number.
 * Static text; never NULL.
 */
const char *leafid_status_name(int32_t status);

/**
 * Whether the same call can succeed later with nothing changed by hand: for example LEAFID_WORKER_IN_USE, not
 * LEAFID_STATE_CORRUPT. False for LEAFID_OK and for unknown numbers.
 */
bool leafid_status_can_retry(int32_t status);

/**
 * The version of the library that is loaded, such as "0.1.0"; LEAFID_VERSION is the header's. Static text; never NULL.
 */
const char *leafid_version(void);

/**
 * The text of the last error that a function of leafid returned to the calling thread, as snprintf would write it:
 * at most `cap` - 1 bytes and a NUL go to `buf`, cut between characters, and the answer is the length of the whole
 * text in bytes without the NUL. It begins with the status' name: "worker_in_use: worker id 7 is held by ...".
 * Empty, and 0, when there was none; a success does not clear it. With `cap` 0 or `buf` NULL nothing is written.
 * UTF-8.
 */
size_t leafid_last_error(char *buf, size_t cap);

/**
 * Reads a layout: a preset ("leaf", "uid-generator", "yitter", "sonyflake", "js-safe") or bits of timestamp, worker id
 * and sequence as in "35|5|23" (with Leaf's epoch, ticks of 1 ms, worker id above sequence).
 *
 * Errors: LEAFID_INVALID_ARGUMENT.
 */
leafid_status leafid_layout_parse(const char *text,
                                  struct leafid_layout *out);

/**
 * When a layout ends: the first Unix millisecond that has no id. `layout` NULL: Leaf's.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a layout that is none.
 */
leafid_status leafid_layout_expires_at_ms(const struct leafid_layout *layout, int64_t *out);

/**
 * Takes an id apart. `layout` NULL: Leaf's.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a negative id, one with more bits than the layout, or a layout that is none.
 */
leafid_status leafid_decode(int64_t id, const struct leafid_layout *layout, struct leafid_parts *out);

/**
 * As leafid_decode, for an id in decimal text: ASCII digits only, no sign, no space, 0 to 9223372036854775807.
 */
leafid_status leafid_decode_text(const char *text, const struct leafid_layout *layout, struct leafid_parts *out);

/**
 * Makes the id of these parts; `timestamp_ms` is Unix milliseconds and is floored to the tick. `layout` NULL: Leaf's.
 * For queries by time and for tests: such an id is not unique, a generator's is.
 *
 * Errors: LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, and LEAFID_INVALID_ARGUMENT for a worker id or a sequence
 * outside its bits or a layout that is none.
 */
leafid_status leafid_compose(int64_t timestamp_ms,
                             int64_t worker_id,
                             int64_t sequence,
                             const struct leafid_layout *layout,
                             int64_t *out);

/**
 * Makes options with every default. Give them back with leafid_snowflake_options_free.
 */
leafid_status leafid_snowflake_options_new(struct leafid_snowflake_options **out);

/**
 * Gives options back, once; generators opened with them live on. NULL does nothing.
 */
void leafid_snowflake_options_free(struct leafid_snowflake_options *options);

/**
 * The worker id, as text: "7", or "0-31" for any id of it that nobody holds, both ends included. Default: the
 * environment's LEAFID_WORKER; without either, leafid_snowflake_open refuses.
 */
leafid_status leafid_snowflake_options_set_worker(struct leafid_snowflake_options *options, const char *worker);

/**
 * The worker id: 0 to the largest one of the layout, 1023 in Leaf's.
 */
leafid_status leafid_snowflake_options_set_worker_id(struct leafid_snowflake_options *options, int64_t worker_id);

/**
 * A range of worker ids, both ends included, of which any one that nobody holds is claimed.
 */
leafid_status leafid_snowflake_options_set_worker_range(struct leafid_snowflake_options *options,
                                                        int64_t first,
                                                        int64_t last);

/**
 * The id space: worker ids are unique within it, and it has a directory of its own. 1 to 64 of the characters
 * A-Z a-z 0-9 . _ -, not beginning with a dot. Default "default".
 */
leafid_status leafid_snowflake_options_set_name(struct leafid_snowflake_options *options, const char *name);

/**
 * The directory in which the records of the worker ids are kept; made if missing. Default: LEAFID_STATE_DIR, systemd's
 * STATE_DIRECTORY, /var/lib/leafid where writable, else the user's own state directory.
 */
leafid_status leafid_snowflake_options_set_state_dir(struct leafid_snowflake_options *options,
                                                     const char *state_dir);

/**
 * The layout, as leafid_layout_parse reads it. Default "leaf".
 */
leafid_status leafid_snowflake_options_set_layout(struct leafid_snowflake_options *options, const char *layout);

/**
 * The layout, as fields, which are copied.
 */
leafid_status leafid_snowflake_options_set_layout_fields(struct leafid_snowflake_options *options,
                                                         const struct leafid_layout *layout);

/**
 * The layout's epoch, Unix milliseconds, not ahead of the clock. Default: the layout's own.
 */
leafid_status leafid_snowflake_options_set_epoch_ms(struct leafid_snowflake_options *options, int64_t epoch_ms);

/**
 * What to do when the clock is behind the last id: a leafid_on_clock_backwards. Default
 * LEAFID_ON_CLOCK_BACKWARDS_CONTINUE.
 */
leafid_status leafid_snowflake_options_set_on_clock_backwards(struct leafid_snowflake_options *options,
                                                              int32_t rule);

/**
 * How far the clock may be behind the last id, milliseconds: 100 to 3600000 under continue, 0 to 3600000 under wait.
 * Default 5000 under continue, 5 under wait.
 */
leafid_status leafid_snowflake_options_set_max_backwards_ms(struct leafid_snowflake_options *options,
                                                            int64_t ms);

/**
 * What to do when a tick's sequence is used up: a leafid_on_exhausted. Default LEAFID_ON_EXHAUSTED_WAIT.
 */
leafid_status leafid_snowflake_options_set_on_exhausted(struct leafid_snowflake_options *options, int32_t rule);

/**
 * A new tick starts its sequence at a pseudo-random number below this, at most an eighth of the sequence space, so
 * that ids made at a low rate are not all even. 0 to 1000000; 0 is off. Default 100, Leaf's.
 */
leafid_status leafid_snowflake_options_set_random_start(struct leafid_snowflake_options *options, int64_t below);

/**
 * How long a call waits at most for its next id, milliseconds, 1 to 3600000. Default 2000.
 */
leafid_status leafid_snowflake_options_set_timeout_ms(struct leafid_snowflake_options *options, int64_t ms);

/**
 * Claims a worker id, makes its first span durable on disk, and answers the generator. The same settings opened twice
 * in one process share one generator. `options` NULL: every default, with LEAFID_WORKER and LEAFID_STATE_DIR from
 * the environment.
 *
 * Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT; LEAFID_WORKER_IN_USE, naming pid, host and start of the
 * holder; LEAFID_CLOCK_BACKWARDS, LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, LEAFID_STATE_IO, LEAFID_STATE_CORRUPT,
 * LEAFID_STATE_MISMATCH.
 */
LEAFID_MUST_USE
leafid_status leafid_snowflake_open(const struct leafid_snowflake_options *options,
                                    struct leafid_snowflake **out);

/**
 * The next id. Look at the status: on an error `out` keeps what it held, which may be the id before.
 *
 * Takes nanoseconds; waits at most timeout_ms for the clock or for the disk.
 *
 * Errors: LEAFID_CLOSED, LEAFID_CLOCK_BACKWARDS, LEAFID_TIME_EXHAUSTED, LEAFID_STATE_IO, LEAFID_WORKER_LOST,
 * LEAFID_WOULD_BLOCK; in a forked child also those of leafid_snowflake_open.
 */
LEAFID_MUST_USE leafid_status leafid_snowflake_next(const struct leafid_snowflake *flake, int64_t *out);

/**
 * Writes `n` ids to `out`, all or nothing; in increasing order, not always consecutive. `n` is 1 to 16777216.
 *
 * Errors: as leafid_snowflake_next, and LEAFID_INVALID_ARGUMENT for `n`. What stands in `out` after an error are no
 * ids.
 */
LEAFID_MUST_USE leafid_status leafid_snowflake_fill(const struct leafid_snowflake *flake, int64_t *out, size_t n);

/**
 * As leafid_snowflake_fill, into memory that leafid allocates. Give it back with leafid_ids_free and the same `n`.
 */
LEAFID_MUST_USE leafid_status leafid_snowflake_take(const struct leafid_snowflake *flake, size_t n, int64_t **out);

/**
 * Gives back what leafid_snowflake_take answered; `n` is the number asked for. NULL does nothing.
 */
void leafid_ids_free(int64_t *ids, size_t n);

/**
 * Closes a generator, from any thread and at any time; others that are in a call, and every later call, get
 * LEAFID_CLOSED. The last handle of a generator writes down the exact first unused tick and gives the worker id back.
 * Closing twice is LEAFID_OK. The handle still has to be freed.
 *
 * Errors: LEAFID_STATE_IO when the record could not be written; the generator is closed all the same.
 */
leafid_status leafid_snowflake_close(const struct leafid_snowflake *flake);

/**
 * Closes and gives back a handle, once, when nobody uses it any more. NULL does nothing. In a forked child that never
 * used the generator, nothing of the parent's is closed.
 */
void leafid_snowflake_free(struct leafid_snowflake *flake);

/**
 * Writes the numbers of a generator. `size` is sizeof(leafid_snowflake_stats_t) as the caller was compiled: a library
 * that knows more fields leaves them out, one that knows fewer sets the rest to 0.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a size below that of the first version, LEAFID_CLOSED.
 */
leafid_status leafid_snowflake_stats(const struct leafid_snowflake *flake,
                                     struct leafid_snowflake_stats_t *out,
                                     size_t size);

/**
 * The worker id that the generator holds.
 *
 * Errors: LEAFID_CLOSED; in a forked child also those of leafid_snowflake_open.
 */
leafid_status leafid_snowflake_worker_id(const struct leafid_snowflake *flake, uint32_t *out);

/**
 * The layout of the generator's ids, with its epoch.
 */
leafid_status leafid_snowflake_layout(const struct leafid_snowflake *flake, struct leafid_layout *out);

/**
 * The generator's id space, as text: at most `cap` - 1 bytes and a NUL go to `buf`, the length of the whole text
 * without the NUL to `needed`, which may be NULL. `buf` may be NULL when `cap` is 0.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_snowflake_name(const struct leafid_snowflake *flake, char *buf, size_t cap, size_t *needed);

/**
 * The generator's state directory; text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_snowflake_state_dir(const struct leafid_snowflake *flake,
                                         char *buf,
                                         size_t cap,
                                         size_t *needed);

/**
 * The last error of the generator's own work, such as a span that could not be written in the background; text as
 * leafid_snowflake_name writes it, empty when there was none. The errors of calls are in leafid_last_error.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_snowflake_last_error(const struct leafid_snowflake *flake,
                                          char *buf,
                                          size_t cap,
                                          size_t *needed);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LEAFID_H */
