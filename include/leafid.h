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
 *   - A callback is called on a thread of leafid's, never on the one that asks for an id, with every signal blocked and
 *     a stack of 8 MiB. Where the system gives no thread, as in a child of _Fork, it is not called, and what it was to
 *     be called for fails with LEAFID_STATE_IO; where 16 calls hang, with LEAFID_WORKER_LOST. (Peers are
 *     not asked then, and segments are waited for.) What is passed to it lives until it returns. It answers 0
 *     (LEAFID_OK), or else writes a text that ends with a NUL to `error`, as UTF-8 within `error_cap` bytes.
 *   - For one generator no two calls are made at once, but beside one that was given up: it had not answered within
 *     timeout_ms, at a renewal one second at least. For several generators with the same function they are. For
 *     segments leafid_fetch_fn says it.
 *   - A callback may block. It must not open, use, close or free the generator or the segments that it is called for,
 *     nor fork, nor leave by longjmp, pthread_exit or a C++ exception, which is undefined; leafid.hpp turns exceptions
 *     into errors.
 *   - The `user_data` of a callback has to live until its free_user_data is called (leafid_free_fn says when), and
 *     without one for as long as options or handles made with it are there and calls are under way. A forked child's
 *     copy of a handle calls its callbacks there with the child's copy of `user_data`, which must not be gone by then:
 *     a callback that holds a connection or a lock looks whether getpid() has changed, and makes another.
 *   - An opening needs a thread with 32 KiB of stack, every other call 16 KiB. With less than that the answer is
 *     LEAFID_STATE_IO where it can be seen; so it is in a child of vfork, which may take ids that are at hand and do
 *     nothing else, not even close: what is open stays so.
 *   - The library stays loaded once it is (-z nodelete).
 *
 * examples/leases.c leases worker ids.
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
 * Bytes of a lease's token, its NUL included.
 */
#define LEAFID_TOKEN_SIZE 256

/**
 * The most clocks of peers that a lease or leafid_peer_times_fn can name.
 */
#define LEAFID_MOST_PEERS 64

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
 * Which of the system's clocks the time in ids is read from.
 */
enum leafid_clock_source
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * The system's clock. The default.
   */
  LEAFID_CLOCK_SOURCE_SYSTEM = 0,
  /**
   * The system's clock as of its last timer interrupt: cheaper to read, and up to that interval late (1 to 10 ms,
   * by the kernel; clock_lag_ms of leafid_snowflake_stats says it).
   */
  LEAFID_CLOCK_SOURCE_COARSE = 1,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum leafid_clock_source leafid_clock_source;
#else
typedef int32_t leafid_clock_source;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How grave a log record is: the less, the graver.
 */
enum leafid_log_level
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * Something failed.
   */
  LEAFID_LOG_ERROR = 1,
  /**
   * Something is amiss, such as a damaged record or a disk that cannot be written; ids go on.
   */
  LEAFID_LOG_WARN = 2,
  /**
   * What was claimed, and where: one record for an opening.
   */
  LEAFID_LOG_INFO = 3,
  /**
   * Details.
   */
  LEAFID_LOG_DEBUG = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum leafid_log_level leafid_log_level;
#else
typedef int32_t leafid_log_level;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * What servers speak.
 */
enum leafid_protocol
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * An unmodified Leaf server's: its segment mode, one id a request. The default. A tag with a dot or a slash is
   * LEAFID_INVALID_ARGUMENT, for Leaf would cut it there.
   */
  LEAFID_PROTOCOL_LEAF = 0,
  /**
   * Leafid's own.
   */
  LEAFID_PROTOCOL_RANGE = 1,
  /**
   * tinyid's.
   */
  LEAFID_PROTOCOL_TINYID = 2,
  /**
   * As LEAFID_PROTOCOL_LEAF, of its snowflake mode.
   */
  LEAFID_PROTOCOL_LEAF_SNOWFLAKE = 3,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum leafid_protocol leafid_protocol;
#else
typedef int32_t leafid_protocol;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Ids from segments: ranges of counters, one counter a tag, leased from a source. Each tag has two segments at hand,
 * so that a source may be slow, or gone for a while, without a call that waits. All threads may use it at the same
 * time. A process forked from this one may go on using it: nothing of what its parent had at hand is issued there, it
 * fetches segments of its own.
 */
typedef struct leafid_segments leafid_segments;

/**
 * The options of segments. For one thread at a time; may be used for many openings. A setter that refuses its value
 * returns the error, changes nothing else, and leafid_segments_open returns the first such error again, so that only
 * its status need be looked at. What is not said to be set to NULL is left alone for its default.
 */
typedef struct leafid_segments_options leafid_segments_options;

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
 * The ids of one tag. All threads may use it at the same time. Ids come in the order in which the source gave them,
 * each once.
 */
typedef struct leafid_tag leafid_tag;

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
 * Writes what the clocks of peers read, in Unix milliseconds, to `out`, which has room for `cap` of them, and their
 * number to `n`, which is 0 before. Asked before each claim: of an opening, of a forked child, and after a lease was
 * lost. Who waits for that waits for it at most timeout_ms.
 *
 * Answers LEAFID_OK; LEAFID_INVALID_ARGUMENT, which refuses the claim; or anything else. That, and no answer in time,
 * is logged with the text in `error`, and refuses none.
 *
 * What holds for every callback, on what thread it runs and what it must not do, is said at the top of this header.
 */
typedef int (*leafid_peer_times_fn)(void *user_data,
                                    int64_t *out,
                                    size_t cap,
                                    size_t *n,
                                    char *error,
                                    size_t error_cap);

/**
 * Told that leafid is done with a `user_data`: once for each function that was given it, also when that function
 * refused its arguments. NULL where nothing is to be done.
 *
 * That is when the options are given back, the last handle opened with them is freed, and no call is under way any
 * more, not even one that hung: on the thread on which the last of these happens, which may be any of yours or of
 * leafid's. Only in the process that gave it; a forked child of that process leaves it alone. Must not use leafid.
 */
typedef void (*leafid_free_fn)(void *user_data);

/**
 * Writes to `worker_id` an id that no other process on any host holds. `name` is the id space; `previous` the id that
 * this generator held before, or the parent of this forked child, and -1 at the first claim: the parent may go on
 * using it. Asked once for a process, by leafid_snowflake_open or the first id, and once for a forked child, by its
 * first call.
 *
 * Answers LEAFID_OK; LEAFID_WORKER_IN_USE when none is free; or another leafid_status, or -1 for anything else, with
 * a text in `error`. What is none of these statuses is LEAFID_WORKER_LOST to who waits, as is no answer within
 * timeout_ms.
 *
 * What holds for every callback, on what thread it runs and what it must not do, is said at the top of this header.
 */
typedef int (*leafid_claim_fn)(void *user_data,
                               const char *name,
                               int64_t previous,
                               int64_t *worker_id,
                               char *error,
                               size_t error_cap);

/**
 * What a worker id is claimed with. Fields are only ever added at the end.
 */
typedef struct leafid_claim_request {
  /**
   * sizeof(leafid_claim_request) as the library knows it: what lies beyond is not there.
   */
  size_t size;
  /**
   * The id space.
   */
  const char *name;
  /**
   * 128 random bits in hex: another for each claim.
   */
  const char *instance;
  /**
   * The worker id that this generator held before, or its parent process: -1 at the first claim.
   */
  int64_t previous;
  /**
   * The clock, Unix milliseconds.
   */
  int64_t now_ms;
  /**
   * Where the span is wished to end, Unix milliseconds. More or less may be given.
   */
  int64_t until_ms;
} leafid_claim_request;

/**
 * A worker id and a span of time in which it is one generator's alone. Fields are only ever added at the end.
 */
typedef struct leafid_lease {
  /**
   * sizeof(leafid_lease) as the library knows it: what lies beyond is not there, and must not be written.
   */
  size_t size;
  /**
   * The worker id.
   */
  int64_t worker_id;
  /**
   * Where the span begins, Unix milliseconds: at or above the until_ms of every holder before.
   */
  int64_t from_ms;
  /**
   * Where the span ends, exclusive, Unix milliseconds, at most a week ahead. Stored by the giver before it is
   * answered, and never lowered but by release.
   */
  int64_t until_ms;
  /**
   * How long the giver keeps the id for this holder without a renewal, milliseconds, at most a week; 0: until
   * until_ms.
   */
  int64_t lease_ms;
  /**
   * What the giver knows this holder by, as UTF-8 that ends with a NUL; empty: nothing. Handed back at renewal and
   * release.
   */
  char token[LEAFID_TOKEN_SIZE];
  /**
   * What the clocks of other holders read, Unix milliseconds. With three or more, a clock that is 10 s or more from
   * their median is refused with LEAFID_CLOCK_BACKWARDS.
   */
  int64_t peer_times_ms[LEAFID_MOST_PEERS];
  /**
   * How many of them there are.
   */
  size_t peers;
} leafid_lease;

/**
 * Leases of worker ids from a place that all hosts share: a database, Redis, etcd, ZooKeeper. What makes ids unique
 * is one rule: a span that was answered overlaps no other span of the same worker id. So until_ms is stored before it
 * is answered, never lowered but by release, and the next holder's from_ms is at or above it.
 *
 * What holds for every callback, on what thread they run and what they must not do, is said at the top of this
 * header.
 */
typedef struct leafid_worker_leases {
  /**
   * sizeof(leafid_worker_leases) as the caller was compiled.
   */
  size_t size;
  /**
   * Fills in `lease`, in which all is 0 but worker_id, which is -1; what is not set stays so. Asked when a
   * generator is opened, by its first id where it is lazy, by the first call of a forked child, and after a lease
   * was lost. Answers as leafid_claim_fn.
   */
  int (*claim)(void *user_data,
               const struct leafid_claim_request *request,
               struct leafid_lease *lease,
               char *error,
               size_t error_cap);
  /**
   * Extends the span of `lease`, which holds what is held, to about `until_ms`: writes lease->until_ms, and where
   * they change lease_ms and token, which keep their value also where they are set to 0 or emptied; an until_ms
   * below the last is no gain and no loss. Asked when half of the lease is over, also while no ids are made.
   * LEAFID_WORKER_LOST says that the id is no longer this holder's: another is claimed. Any other answer but
   * LEAFID_OK, and none in time, says that it is not known: what is held is used to its end, and the call made again
   * soon, and later each time.
   */
  int (*renew)(void *user_data, struct leafid_lease *lease, int64_t until_ms, char *error, size_t error_cap);
  /**
   * Takes the id back when the last handle is closed: no id at or after `until_ms` was issued, nor will be. Also
   * for a claim whose answer nobody waited for any more. A failure is logged: the lease ends by itself.
   */
  int (*release)(void *user_data, const struct leafid_lease *lease, int64_t until_ms, char *error, size_t error_cap);
} leafid_worker_leases;

/**
 * The numbers of a generator. Fields are only ever added at the end: see leafid_snowflake_stats.
 */
typedef struct leafid_snowflake_stats_t {
  /**
   * The worker id held.
   */
  int64_t worker_id;
  /**
   * The layout's epoch, Unix milliseconds.
   */
  int64_t epoch_ms;
  /**
   * When the layout's timestamp bits end, Unix milliseconds.
   */
  int64_t expires_at_ms;
  /**
   * Ids are durable up to here, exclusive, Unix milliseconds.
   */
  int64_t reserved_until_ms;
  /**
   * How far the logical clock is ahead of the clock, milliseconds; 0 when it is not.
   */
  int64_t lead_ms;
  /**
   * Handles of this process that share the generator.
   */
  uint64_t handles;
  /**
   * Spans made durable since the generator was opened, the first one not counted.
   */
  uint64_t renewals;
  /**
   * Renewals of spans and leases that failed; leafid_snowflake_last_error has the last error.
   */
  uint64_t renewal_failures;
  /**
   * How late the clock of clock_source may be, milliseconds; 0 for the system's.
   */
  int64_t clock_lag_ms;
  /**
   * Where the lease of the worker id ends, Unix milliseconds; 0 without one.
   */
  int64_t lease_until_ms;
  /**
   * How often a worker id was claimed: more than once when leases were lost.
   */
  uint64_t claims;
} leafid_snowflake_stats_t;

/**
 * A range of ids. Fields are only ever added at the end.
 */
typedef struct leafid_segment {
  /**
   * sizeof(leafid_segment) as the library knows it: what lies beyond is not there, and must not be written.
   */
  size_t size;
  /**
   * The first id; not negative.
   */
  int64_t start;
  /**
   * Above the last id: an id itself only of the next segment.
   */
  int64_t end;
  /**
   * From one id to the next; 0 is 1.
   */
  int64_t stride;
  /**
   * Told, not asked: every id below was given before. A counter that says less has lost something.
   */
  int64_t after;
} leafid_segment;

/**
 * Writes to `out` a range of ids of `tag` that was never given before, nor will be again: it is taken from its counter
 * in one transaction, which has ended before this returns. About `step` ids are wished for; more or less may be given.
 * In `out` all is 0 but size, after, and start, which is -1.
 *
 * Answers LEAFID_OK; LEAFID_UNKNOWN_TAG for a tag that there is not, which who waits is told at once; or another
 * leafid_status, or -1 for anything else, with a text in `error`. It is called again then, later each time, and what
 * is none of these statuses is LEAFID_SEGMENT_UNAVAILABLE to who has waited timeout_ms, as is no answer. A range that
 * is none is LEAFID_SOURCE_INVALID, one that was given before LEAFID_SEGMENT_REGRESSED; no id of either is used.
 *
 * For one tag of one leafid_segments no two calls are made at once, not even beside one that hangs; for several tags
 * there may be four, and more beside those that have not answered for a second. An id of the same tag cannot be had
 * within it. What else holds for every callback, on what thread it runs and what it must not do, is said at the top of
 * this header.
 */
typedef int (*leafid_fetch_fn)(void *user_data,
                               const char *tag,
                               int64_t step,
                               struct leafid_segment *out,
                               char *error,
                               size_t error_cap);

/**
 * The numbers of a tag in this process. Fields are only ever added at the end: see leafid_tag_stats.
 */
typedef struct leafid_tag_stats_t {
  /**
   * The next id of the segment that is issued; 0 without one.
   */
  int64_t current_start;
  /**
   * The end of it, exclusive; 0 without one.
   */
  int64_t current_end;
  /**
   * The first id of the segment after it; 0 without one.
   */
  int64_t next_start;
  /**
   * The end of that one, exclusive; 0 without one.
   */
  int64_t next_end;
  /**
   * Ids at hand.
   */
  uint64_t left;
  /**
   * The step of the last fetch; 0 before the first of a source that knows one itself.
   */
  int64_t step;
  /**
   * Whether a fetch is under way, 1 or 0.
   */
  uint64_t fetching;
  /**
   * Fetches that have ended.
   */
  uint64_t fetches;
  /**
   * Those of them that failed; leafid_tag_last_error has the last error.
   */
  uint64_t failures;
  /**
   * Calls that found nothing at hand.
   */
  uint64_t waits;
  /**
   * Calls that wait now.
   */
  uint64_t waiting;
} leafid_tag_stats_t;

/**
 * Is given one log record: its level, a leafid_log_level, and its text without a newline, valid during the call.
 *
 * It is called by a thread of leafid's own, with all signals blocked, one record after another, while no lock of
 * leafid's is held: it may take locks, write to a disk and use leafid. It must return, and not by longjmp or an
 * exception.
 */
typedef void (*leafid_log_fn)(void *user_data, int32_t level, const char *message);

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
 * The worker id, as text: "7"; "0-31" for any id of it that nobody holds, both ends included; "hostname:orders" for N
 * on a host called orders-N, "hostname:orders*8" for any of 8N to 8N+7; or the URL of a lease server, as in
 * "https://ids-1:8443", several of them with commas between, of which the first is preferred and one that fails rests.
 * Lease servers are asked on threads of leafid's, by no function of yours: a lease is claimed, renewed and given back
 * as leafid_worker_leases tells it. Default: the environment's LEAFID_WORKER; without either, leafid_snowflake_open
 * refuses. Of the functions that say where worker ids come from, the last one counts.
 */
leafid_status leafid_snowflake_options_set_worker(struct leafid_snowflake_options *options,
                                                  const char *worker);

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
 * The directory in which the records of the worker ids are kept; made if missing. Default: LEAFID_STATE_DIR,
 * systemd's STATE_DIRECTORY, /var/lib/leafid where writable, else the user's own state directory.
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
 * Whether a record is kept that the next start goes on from: 1 or 0. Default 1. 0 gives up restart safety: a start
 * after the clock went back repeats ids; it is refused with a range, and without a lease ids never run ahead of the
 * clock. The state directory is not used then.
 */
leafid_status leafid_snowflake_options_set_persist(struct leafid_snowflake_options *options, int32_t persist);

/**
 * Whether the state directory may lie on a network file system, 1 or 0: its locks must work between all hosts that
 * use it. Default 0.
 */
leafid_status leafid_snowflake_options_set_shared_fs(struct leafid_snowflake_options *options, int32_t shared_fs);

/**
 * Whether the state directory is shared by the members of one group, 1 or 0: files are born for them to write, 0660
 * whatever umask says, and directories 2770. Files with secrets stay the owner's alone. Default LEAFID_SHARED_GROUP, else
 * 0: 0640 and 0750 less umask.
 */
leafid_status leafid_snowflake_options_set_shared_group(struct leafid_snowflake_options *options,
                                                        int32_t shared_group);

/**
 * Your word that no other container or host was given this range of worker ids, or that all that were share the state
 * directory: 1 or 0. Without it a range is refused where it cannot be seen that others of the machine see which ids
 * are held: in a container, or in a network of its own. Default LEAFID_EXCLUSIVE_RANGE, else 0.
 */
leafid_status leafid_snowflake_options_set_exclusive_range(struct leafid_snowflake_options *options,
                                                           int32_t exclusive);

/**
 * How long a start that finds no record of its worker id issues nothing, milliseconds by the clock: as far as the clock
 * of another host, which may have used the worker id before, may be ahead of this one's. Calls meanwhile are
 * LEAFID_CLOCK_BACKWARDS where the rest is longer than the timeout. Refused with leases, which need no wait. 0 to
 * 3600000; default LEAFID_NO_RECORD_WAIT_MS, else 0: off.
 */
leafid_status leafid_snowflake_options_set_no_record_wait_ms(struct leafid_snowflake_options *options,
                                                             int64_t ms);

/**
 * Whether the worker id is claimed at the first id instead of by leafid_snowflake_open, 1 or 0. Default 0. Errors of
 * the claim are then those of that call; options are checked at once all the same.
 */
leafid_status leafid_snowflake_options_set_lazy(struct leafid_snowflake_options *options,
                                                int32_t lazy);

/**
 * Sent to lease servers as "Authorization: Bearer ...". This and the options that follow are for a worker that is a
 * URL, and refused by leafid_snowflake_open with any other.
 */
leafid_status leafid_snowflake_options_set_token(struct leafid_snowflake_options *options, const char *token);

/**
 * Adds a header that is sent to lease servers with each request.
 */
leafid_status leafid_snowflake_options_add_header(struct leafid_snowflake_options *options,
                                                  const char *name,
                                                  const char *value);

/**
 * A PEM file of certificate authorities that lease servers may be signed by, besides the system's own.
 */
leafid_status leafid_snowflake_options_set_ca_file(struct leafid_snowflake_options *options, const char *path);

/**
 * How long a claim, renewal or release may last, however many lease servers it asks, milliseconds, 1 to 3600000.
 * Default 1000.
 */
leafid_status leafid_snowflake_options_set_request_timeout_ms(struct leafid_snowflake_options *options, int64_t ms);

/**
 * How long a lease server may take to accept a connection, milliseconds, 1 to 3600000. Default 300.
 */
leafid_status leafid_snowflake_options_set_connect_timeout_ms(struct leafid_snowflake_options *options, int64_t ms);

/**
 * Which clock ids are made of: a leafid_clock_source. Default LEAFID_CLOCK_SOURCE_SYSTEM.
 */
leafid_status leafid_snowflake_options_set_clock_source(struct leafid_snowflake_options *options, int32_t source);

/**
 * An existing largest id of this layout, such as that of the generator before: every id will be of a later tick.
 */
leafid_status leafid_snowflake_options_set_start_after(struct leafid_snowflake_options *options, int64_t id);

/**
 * Asks what the clocks of peers read. A clock that is 10 s or more from the median of three or more is refused with
 * LEAFID_CLOCK_BACKWARDS when a worker id is claimed. `free_user_data` may be NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for an `ask` that is NULL.
 */
leafid_status leafid_snowflake_options_set_peer_times(struct leafid_snowflake_options *options,
                                                      leafid_peer_times_fn ask,
                                                      void *user_data,
                                                      leafid_free_fn free_user_data);

/**
 * A callback that answers the worker id, instead of _set_worker. The record in the state directory does the rest: an
 * id that another process of this host holds is LEAFID_WORKER_IN_USE, one outside the layout LEAFID_INVALID_ARGUMENT.
 *
 * The same `claim` with the same `user_data` are the same option: opened twice in one process they share one
 * generator. `free_user_data` may be NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a `claim` that is NULL.
 */
leafid_status leafid_snowflake_options_set_worker_callback(struct leafid_snowflake_options *options,
                                                           leafid_claim_fn claim,
                                                           void *user_data,
                                                           leafid_free_fn free_user_data);

/**
 * Functions that lease worker ids, instead of _set_worker. `functions` is copied. An id that another process of this
 * host holds is LEAFID_WORKER_IN_USE; a lease that is none (an id outside the layout, a span that is empty, ended or
 * more than a week ahead, a token that is no UTF-8 or does not end, too many peers) is refused with
 * LEAFID_INVALID_ARGUMENT or LEAFID_WORKER_LOST at a claim, and is a failure at a renewal. leafid_snowflake_stats has
 * lease_until_ms.
 *
 * The same claim function with the same `user_data` are the same option: opened twice in one process they share one
 * generator. `free_user_data` may be NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a function that is NULL, or a size that is none.
 */
leafid_status leafid_snowflake_options_set_worker_leases(struct leafid_snowflake_options *options,
                                                         const struct leafid_worker_leases *functions,
                                                         void *user_data,
                                                         leafid_free_fn free_user_data);

/**
 * Claims a worker id, makes its first span durable on disk, and answers the generator. The same settings opened twice
 * in one process share one generator. `options` NULL: every default, with LEAFID_WORKER and LEAFID_STATE_DIR from
 * the environment.
 *
 * Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT; LEAFID_WORKER_IN_USE, naming pid, host and start of the
 * holder; LEAFID_WORKER_LOST and whatever a callback or a lease server answers, with its text; LEAFID_CLOCK_BACKWARDS,
 * LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, LEAFID_STATE_IO, LEAFID_STATE_CORRUPT, LEAFID_STATE_MISMATCH.
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
 * LEAFID_WOULD_BLOCK; in a forked child, and in the first call of a lazy one, also those of leafid_snowflake_open.
 */
LEAFID_MUST_USE leafid_status leafid_snowflake_next(const struct leafid_snowflake *flake, int64_t *out);

/**
 * Writes `n` ids to `out`, all or nothing; in increasing order, not always consecutive. `n` is 0 to 16777216; for 0
 * `out` may be NULL.
 *
 * Errors: as leafid_snowflake_next, and LEAFID_INVALID_ARGUMENT for `n`. What stands in `out` after an error are no
 * ids.
 */
LEAFID_MUST_USE leafid_status leafid_snowflake_fill(const struct leafid_snowflake *flake, int64_t *out, size_t n);

/**
 * As leafid_snowflake_fill, into memory that leafid allocates. Give it back with leafid_ids_free and the same `n`. For 0
 * ids it is NULL.
 */
LEAFID_MUST_USE
leafid_status leafid_snowflake_take(const struct leafid_snowflake *flake,
                                    size_t n,
                                    int64_t **out);

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
 * The directory of the records, with the id space's sub-directory; empty where none are kept. Text as
 * leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_snowflake_state_dir(const struct leafid_snowflake *flake,
                                         char *buf,
                                         size_t cap,
                                         size_t *needed);

/**
 * The last error of a renewal of a span or a lease, empty after a success. Text as leafid_snowflake_name writes it.
 * The errors of calls are in leafid_last_error.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_snowflake_last_error(const struct leafid_snowflake *flake,
                                          char *buf,
                                          size_t cap,
                                          size_t *needed);

/**
 * Makes options with every default. Give them back with leafid_segments_options_free.
 */
leafid_status leafid_segments_options_new(struct leafid_segments_options **out);

/**
 * Gives options back, once; segments opened with them live on. NULL does nothing.
 */
void leafid_segments_options_free(struct leafid_segments_options *options);

/**
 * The id space: what a source gives a tag of it twice is refused. Segments of two databases, or two clusters, are two
 * id spaces. As of leafid_snowflake_options_set_name. Default "default".
 */
leafid_status leafid_segments_options_set_name(struct leafid_segments_options *options,
                                               const char *name);

/**
 * The directory in which it is kept how far each tag was given; made if missing. Default as of
 * leafid_snowflake_options_set_state_dir.
 */
leafid_status leafid_segments_options_set_state_dir(struct leafid_segments_options *options, const char *state_dir);

/**
 * Whether it is kept how far each tag was given, 1 or 0. Default 1. With 0 a source that repeats itself is noticed by
 * this process alone.
 */
leafid_status leafid_segments_options_set_persist(struct leafid_segments_options *options,
                                                  int32_t persist);

/**
 * Whether the state directory, and file:DIR, may lie on a network file system, 1 or 0: its locks must work between all
 * hosts that use it. Default 0.
 */
leafid_status leafid_segments_options_set_shared_fs(struct leafid_segments_options *options,
                                                    int32_t shared_fs);

/**
 * Whether the state directory, and file:DIR, is shared by the members of one group, 1 or 0: files are born for them to write, 0660
 * whatever umask says, and directories 2770. Files with secrets stay the owner's alone. Default LEAFID_SHARED_GROUP, else
 * 0: 0640 and 0750 less umask.
 */
leafid_status leafid_segments_options_set_shared_group(struct leafid_segments_options *options,
                                                       int32_t shared_group);

/**
 * How many ids to ask for at a time, 1 to 1000000. Default: the source's own; 1000 of a callback. Of a Leaf, which gives
 * one id a request, as many are kept in stock, 1000 by default; tinyid decides itself, and takes none.
 */
leafid_status leafid_segments_options_set_step(struct leafid_segments_options *options,
                                               int64_t step);

/**
 * Whether the step follows the use, 1 or 0: doubled, up to 1000000, when a segment lasted less than 15 minutes, halved
 * when it lasted 30 or more, never below the first. Default 1. The stock of a Leaf begins at 16 ids, and grows to the
 * step with the use; 0 fills it at once.
 */
leafid_status leafid_segments_options_set_adaptive(struct leafid_segments_options *options,
                                                   int32_t adaptive);

/**
 * Of how much of a segment more must be used before the next one is fetched, percent, 0 to 100. Default 10.
 */
leafid_status leafid_segments_options_set_prefetch(struct leafid_segments_options *options, int64_t percent);

/**
 * How long a call waits at most for its next id, milliseconds, 1 to 3600000. Default 2000. A call for many ids that
 * makes progress goes on.
 */
leafid_status leafid_segments_options_set_timeout_ms(struct leafid_segments_options *options, int64_t ms);

/**
 * Adds a tag that leafid_segments_open has fetched at once, in the background; at most 1000. Of this function and
 * _set_prewarm_last_day the last one counts.
 */
leafid_status leafid_segments_options_add_prewarm(struct leafid_segments_options *options, const char *tag);

/**
 * Whether the tags that were fetched within the last day, as the state directory tells, are fetched by
 * leafid_segments_open, 1 or 0: at most 1000. Default 0.
 */
leafid_status leafid_segments_options_set_prewarm_last_day(struct leafid_segments_options *options,
                                                           int32_t last_day);

/**
 * Whether a clean close keeps what is left for the next opening on this machine, for a day at most, 1 or 0. Default 0:
 * it is given up.
 */
leafid_status leafid_segments_options_set_keep_unused(struct leafid_segments_options *options,
                                                      int32_t keep_unused);

/**
 * Whether the source gives every segment of a tag above all that it gave before, so that one below is refused, 1 or
 * 0. Default 1; 0 of a Leaf, whose nodes interleave and which takes no 1, and of tinyid. With 0 segments are refused
 * that cross one that is remembered.
 */
leafid_status leafid_segments_options_set_ordered_source(struct leafid_segments_options *options,
                                                         int32_t ordered);

/**
 * Adds where segments come from: the URL of a server, as in "http://leaf-1:8080", of which the first is preferred and
 * one that fails rests; or "file:DIR" alone, a directory that processes of one host share.
 */
leafid_status leafid_segments_options_add_server(struct leafid_segments_options *options,
                                                 const char *server);

/**
 * What the servers speak: a leafid_protocol. Default LEAFID_PROTOCOL_LEAF.
 */
leafid_status leafid_segments_options_set_protocol(struct leafid_segments_options *options, int32_t protocol);

/**
 * How long a request to a server may last, milliseconds, 1 to 3600000. Default 1000.
 */
leafid_status leafid_segments_options_set_request_timeout_ms(struct leafid_segments_options *options, int64_t ms);

/**
 * How long a server may take to accept a connection, milliseconds, 1 to 3600000. Default 300.
 */
leafid_status leafid_segments_options_set_connect_timeout_ms(struct leafid_segments_options *options, int64_t ms);

/**
 * How many connections to each server are kept alive, 1 to 64; of a Leaf also how many requests are under way at
 * a time, for all tags together. Default 4.
 */
leafid_status leafid_segments_options_set_connections(struct leafid_segments_options *options, int64_t connections);

/**
 * Ids that one number of a Leaf stands for, 2 to 1000000: number n for n * N to (n + 1) * N - 1. Each tag must be
 * called ...-xN then, in Leaf's table too, and is not used otherwise, so that all who read it agree. Default: a number
 * is an id.
 */
leafid_status leafid_segments_options_set_block_size(struct leafid_segments_options *options,
                                                     int64_t ids);

/**
 * Sent to servers as "Authorization: Bearer ..."; to tinyid as its own token.
 */
leafid_status leafid_segments_options_set_token(struct leafid_segments_options *options, const char *token);

/**
 * Adds a header that is sent to servers with each request.
 */
leafid_status leafid_segments_options_add_header(struct leafid_segments_options *options,
                                                 const char *name,
                                                 const char *value);

/**
 * A PEM file of certificate authorities that servers may be signed by, besides the system's own.
 */
leafid_status leafid_segments_options_set_ca_file(struct leafid_segments_options *options, const char *path);

/**
 * Adds a tag of a file:DIR source, made if it is not there yet: with `start` as its first id, 0 to 2^63 - 2, and
 * `step` ids a fetch, 1 to 16777216. One that is there goes on, with the step that is said here.
 */
leafid_status leafid_segments_options_add_file_tag(struct leafid_segments_options *options,
                                                   const char *tag,
                                                   int64_t start,
                                                   int64_t step);

/**
 * Whether the directory of a file:DIR source is made if it is missing, 1 or 0. Default 0: a counter that is lost must
 * not begin anew by itself.
 */
leafid_status leafid_segments_options_set_create(struct leafid_segments_options *options,
                                                 int32_t create);

/**
 * Segments from a callback, on your own database for example, instead of servers. `free_user_data` may be NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a `fetch` that is NULL.
 */
leafid_status leafid_segments_options_set_fetch(struct leafid_segments_options *options,
                                                leafid_fetch_fn fetch,
                                                void *user_data,
                                                leafid_free_fn free_user_data);

/**
 * Opens segments. No source is asked yet, but for the tags that are prewarmed. Two openings are two: each has segments
 * of its own.
 *
 * Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT, also where neither servers nor a callback are set;
 * LEAFID_STATE_IO; of a file:DIR source LEAFID_UNKNOWN_TAG for a directory that is none, LEAFID_STATE_CORRUPT.
 */
LEAFID_MUST_USE
leafid_status leafid_segments_open(const struct leafid_segments_options *options,
                                   struct leafid_segments **out);

/**
 * The ids of the tag of this name: 1 to 128 bytes of UTF-8 without control characters. Nothing is fetched yet. Give it
 * back with leafid_tag_free; several handles of one name are one tag.
 *
 * Errors: LEAFID_INVALID_ARGUMENT, LEAFID_CLOSED.
 */
LEAFID_MUST_USE
leafid_status leafid_segments_tag(const struct leafid_segments *segments,
                                  const char *tag,
                                  struct leafid_tag **out);

/**
 * Closes segments, from any thread and at any time; calls that wait for an id of any tag of theirs, and every later
 * call, get LEAFID_CLOSED. Ids at hand are given up, or with keep_unused kept for the next opening. Closing twice is
 * LEAFID_OK. The handle still has to be freed. A callback that is inside, or hangs, is not waited for.
 *
 * Errors: LEAFID_STATE_IO when what was left could not be kept; the segments are closed all the same.
 */
leafid_status leafid_segments_close(const struct leafid_segments *segments);

/**
 * Gives back a handle, once, when nobody uses it any more; closes the segments unless tags of theirs are there, the
 * last of which does it then. NULL does nothing. In a forked child nothing of the parent's is closed.
 */
void leafid_segments_free(struct leafid_segments *segments);

/**
 * The next id. Look at the status: on an error `out` keeps what it held, which may be the id before.
 *
 * Takes nanoseconds; waits at most timeout_ms when both segments are used up.
 *
 * Errors: LEAFID_UNKNOWN_TAG and LEAFID_CLOSED, at once; after timeout_ms the one of the last fetch:
 * LEAFID_SEGMENT_UNAVAILABLE, LEAFID_SEGMENT_REGRESSED, LEAFID_SOURCE_INVALID, LEAFID_STATE_IO, LEAFID_STATE_CORRUPT,
 * LEAFID_STATE_MISMATCH, LEAFID_INVALID_ARGUMENT.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_next(const struct leafid_tag *tag,
                              int64_t *out);

/**
 * As leafid_tag_next, with a timeout_ms of its own, 1 to 3600000.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_next_within(const struct leafid_tag *tag,
                                     int64_t timeout_ms,
                                     int64_t *out);

/**
 * The next id if one is at hand. If not, it is LEAFID_WOULD_BLOCK, and the next segment is being fetched. Never waits.
 *
 * Errors: LEAFID_WOULD_BLOCK, LEAFID_UNKNOWN_TAG, LEAFID_CLOSED.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_try_next(const struct leafid_tag *tag,
                                  int64_t *out);

/**
 * Writes `n` ids to `out`, all or nothing; in order, over as many segments as it takes. `n` is 0 to 16777216; for 0
 * `out` may be NULL, and no source is asked. A source is asked for that many at once where it can give them. Waits at
 * most timeout_ms for each segment.
 *
 * Errors: as leafid_tag_next, and LEAFID_INVALID_ARGUMENT for `n`. What stands in `out` after an error are no ids;
 * those it had are put back and issued later.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_fill(const struct leafid_tag *tag,
                              int64_t *out,
                              size_t n);

/**
 * As leafid_tag_fill, with a timeout_ms of its own, 1 to 3600000.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_fill_within(const struct leafid_tag *tag,
                                     int64_t timeout_ms,
                                     int64_t *out,
                                     size_t n);

/**
 * As leafid_tag_fill, into memory that leafid allocates. Give it back with leafid_ids_free and the same `n`. For 0 ids it
 * is NULL.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_take(const struct leafid_tag *tag,
                              size_t n,
                              int64_t **out);

/**
 * Gives back a handle, once, when nobody uses it any more. NULL does nothing. The last one closes its segments, when
 * their handle was freed before.
 */
void leafid_tag_free(struct leafid_tag *tag);

/**
 * Writes the numbers of a tag. `size` is sizeof(leafid_tag_stats_t) as the caller was compiled: a library that knows
 * more fields leaves them out, one that knows fewer sets the rest to 0.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a size below that of the first version, LEAFID_CLOSED.
 */
leafid_status leafid_tag_stats(const struct leafid_tag *tag,
                               struct leafid_tag_stats_t *out,
                               size_t size);

/**
 * The tag's name, also of closed segments. Text as leafid_snowflake_name writes it.
 */
leafid_status leafid_tag_name(const struct leafid_tag *tag, char *buf, size_t cap, size_t *needed);

/**
 * The error of the tag's last fetch, empty after a success. Text as leafid_snowflake_name writes it. The errors of
 * calls are in leafid_last_error.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_tag_last_error(const struct leafid_tag *tag, char *buf, size_t cap, size_t *needed);

/**
 * The id space of segments. Text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_segments_name(const struct leafid_segments *segments, char *buf, size_t cap, size_t *needed);

/**
 * Where segments come from, as in "callback". Text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_segments_source(const struct leafid_segments *segments, char *buf, size_t cap, size_t *needed);

/**
 * The directory in which it is kept how far each tag was given, with the id space's sub-directory; empty where it is
 * not kept. Text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_segments_state_dir(const struct leafid_segments *segments,
                                        char *buf,
                                        size_t cap,
                                        size_t *needed);

/**
 * Every tag that this process has used, by name, each with a newline after it, which is in no name: for
 * leafid_segments_tag and leafid_tag_stats. Text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED.
 */
leafid_status leafid_segments_tags(const struct leafid_segments *segments, char *buf, size_t cap, size_t *needed);

/**
 * The statistics of every generator open in this process as text of Prometheus, in the OpenMetrics format: to be served
 * as "application/openmetrics-text; version=1.0.0; charset=utf-8". Text as leafid_snowflake_name writes it; it is made
 * anew by each call, so leave room beyond the `needed` of the call before. Reads memory only. A forked child shows the
 * generators that it has used itself.
 */
leafid_status leafid_metrics(char *buf,
                             size_t cap,
                             size_t *needed);

/**
 * Has `callback` called with `user_data` for each log record of `level` and graver ones, instead of the callback before;
 * NULL turns it off, which it is at the start. The thread that calls it is there only while there are records. Up to
 * 256 of them wait for it; further ones are dropped, and the next record says how many. A forked child goes on with the
 * same callback, with records of its own.
 *
 * When this returns, no call of the callback before is under way or comes later: its `user_data` may go. What waits is
 * delivered first when it is turned off, for a second at most; a call under way is waited for however long it takes, so
 * it must not wait for the thread that is here. A callback may itself call this function: then only its own call is
 * still under way. Turn it off before what it uses ends, as with the program.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a level that is none.
 */
leafid_status leafid_set_log(leafid_log_fn callback,
                             void *user_data,
                             int32_t level);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LEAFID_H */
