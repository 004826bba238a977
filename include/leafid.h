/*
 * leafid: unique 64-bit ids made in the caller's own process.
 *
 * Made by cbindgen from the crate leafid-c (`make header`): do not edit.
 *
 * Rules for every function:
 *
 *   - It returns a leafid_status. LEAFID_OK is 0. For any other status leafid_last_error has a text that says what
 *     happened and what to do. Functions that cannot fail return no status: those that free, that return text, and
 *     leafid_status_can_retry.
 *   - Results go through pointers and are written only on success. Always check the status: after a failed call the id
 *     variable still holds the id of the call before, and using it again makes a duplicate.
 *   - A pointer is NULL or valid for what the function does with it. NULL where it is not allowed is
 *     LEAFID_INVALID_ARGUMENT. Input text is UTF-8 and ends with a NUL; it is copied. Output text is UTF-8.
 *   - Enums are passed as int32_t. A number outside the enum is LEAFID_INVALID_ARGUMENT.
 *   - All threads may use a handle at once, and one thread at a time may use options. `_close` may be called at any time
 *     and twice. Call `_free` once, when no thread uses the handle; `_free(NULL)` does nothing.
 *   - Do not call leafid from a signal handler. A child of a process with several threads may call it only if that child
 *     may call malloc.
 *   - An opening needs a thread with 32 KiB of stack, every other call 16 KiB. With less the call fails with
 *     LEAFID_STATE_IO, if leafid can detect it. A child of vfork may take ids that are in memory, and nothing else: other
 *     calls fail with LEAFID_STATE_IO, even close, and what is open stays open.
 *   - The library stays loaded, for its threads need it: dlclose and FreeLibrary do nothing once an id was issued. On
 *     Linux, link a library of your own that has libleafid.a inside with -z nodelete.
 *
 * Rules for every callback:
 *
 *   - leafid calls it on its own thread, never on the thread that asks for an id, with every signal blocked and a stack
 *     of 8 MiB. If the system provides no thread, as in a child of _Fork, leafid does not call it, and the operation fails
 *     with LEAFID_STATE_IO; if 16 calls hang, with LEAFID_WORKER_LOST. (In these cases leafid does not ask peers, and
 *     waits for segments.)
 *   - Its arguments live until it returns. It returns 0 (LEAFID_OK), or else writes a text that ends with a NUL to
 *     `error`, as UTF-8 within `error_cap` bytes.
 *   - For one generator there is one call at a time, except beside an abandoned call: one that has not returned within
 *     timeout_ms (a renewal: within at least one second). Generators with the same function may call it concurrently. For
 *     segments see leafid_fetch_fn.
 *   - It may block. It must not open, use, close or free the generator or the segments that it is called for, and must
 *     not fork. It must not leave by longjmp, pthread_exit or a C++ exception: this is undefined. leafid.hpp turns
 *     exceptions into errors.
 *   - Its `user_data` must live until free_user_data is called (see leafid_free_fn). Without free_user_data it must live
 *     as long as options or handles made with it exist and calls are in progress. In a forked child, a copy of a handle
 *     calls its callbacks with the child's copy of `user_data`, which must still exist. A callback that holds a connection
 *     or a lock must check whether getpid() has changed, and create another one.
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

/* The compiler warns if you do not check the status of a function that gives ids. */
#if defined(__GNUC__)
#define LEAFID_MUST_USE __attribute__((warn_unused_result))
#else
#define LEAFID_MUST_USE
#endif

/* The version of this header. */
#define LEAFID_VERSION "0.1.0"

/**
 * Bytes that hold any text of leafid_format_id, its NUL included.
 */
#define LEAFID_ID_TEXT_SIZE 37

/**
 * Bytes of a lease's token, its NUL included.
 */
#define LEAFID_TOKEN_SIZE 256

/**
 * The most clocks of peers that a lease or leafid_peer_times_fn can name.
 */
#define LEAFID_MOST_PEERS 64

/**
 * The result of a function: 0 is success, everything else an error whose text is in leafid_last_error. The numbers
 * never change.
 */
enum leafid_status
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
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
   * The clock, or the requested time, is before the layout's epoch.
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
   * This generator no longer holds the worker id.
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
   * No segment arrived in time.
   */
  LEAFID_SEGMENT_UNAVAILABLE = 11,
  /**
   * The source returned ids that it had returned before.
   */
  LEAFID_SEGMENT_REGRESSED = 12,
  /**
   * The source's response is not valid.
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
  LEAFID_INTERNAL = 16
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_status leafid_status;
#else
typedef int32_t leafid_status;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * The order of worker id and sequence below the timestamp.
 */
enum leafid_order
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Timestamp, worker id, sequence: Leaf's and Twitter's.
   */
  LEAFID_ORDER_WORKER_SEQUENCE = 0,
  /**
   * Timestamp, sequence, worker id: Sonyflake's.
   */
  LEAFID_ORDER_SEQUENCE_WORKER = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_order leafid_order;
#else
typedef int32_t leafid_order;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * What a generator does when the clock is behind its last id.
 */
enum leafid_on_clock_backwards
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Continues on the logical clock, which never goes back. The default.
   */
  LEAFID_ON_CLOCK_BACKWARDS_CONTINUE = 0,
  /**
   * Waits until the clock has caught up: Leaf's rule.
   */
  LEAFID_ON_CLOCK_BACKWARDS_WAIT = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_on_clock_backwards leafid_on_clock_backwards;
#else
typedef int32_t leafid_on_clock_backwards;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * What a generator does when a tick's sequence is used up.
 */
enum leafid_on_exhausted
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Waits for the clock's next tick. The default.
   */
  LEAFID_ON_EXHAUSTED_WAIT = 0,
  /**
   * Uses the next tick ahead of the clock, within max_backwards_ms.
   */
  LEAFID_ON_EXHAUSTED_BORROW = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_on_exhausted leafid_on_exhausted;
#else
typedef int32_t leafid_on_exhausted;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * The system clock that the time in ids is read from.
 */
enum leafid_clock_source
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * The system's clock. The default.
   */
  LEAFID_CLOCK_SOURCE_SYSTEM = 0,
  /**
   * The system's clock at its last timer interrupt: cheaper to read, and late by up to that interval (1 to 10 ms,
   * depending on the kernel; clock_lag_ms of leafid_snowflake_stats shows it).
   */
  LEAFID_CLOCK_SOURCE_COARSE = 1
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_clock_source leafid_clock_source;
#else
typedef int32_t leafid_clock_source;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * The level of a log record: lower is more severe.
 */
enum leafid_log_level
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Something failed.
   */
  LEAFID_LOG_ERROR = 1,
  /**
   * A problem, such as a damaged record or a disk that cannot be written; issuing continues.
   */
  LEAFID_LOG_WARN = 2,
  /**
   * The claimed worker id and its directory: one record for each opening.
   */
  LEAFID_LOG_INFO = 3,
  /**
   * Details.
   */
  LEAFID_LOG_DEBUG = 4
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_log_level leafid_log_level;
#else
typedef int32_t leafid_log_level;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * The protocol of servers.
 */
enum leafid_protocol
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * That of an unmodified Leaf server, in segment mode: one id per request. The default. A tag with a dot or a
   * slash is LEAFID_INVALID_ARGUMENT, because Leaf would cut it there.
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
   * The same as LEAFID_PROTOCOL_LEAF, in snowflake mode.
   */
  LEAFID_PROTOCOL_LEAF_SNOWFLAKE = 3
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_protocol leafid_protocol;
#else
typedef int32_t leafid_protocol;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * How an id is written as text. Each form has one text for an id, and leafid_parse_id accepts no other.
 */
enum leafid_text_form
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
  : int32_t
#endif /* defined(__cplusplus) || __STDC_VERSION__ >= 202311L */
 {
  /**
   * Decimal digits without leading zeros. Their order as text is not the order of the ids.
   */
  LEAFID_TEXT_FORM_DECIMAL = 0,
  /**
   * Crockford's base32 in upper case: 13 characters, whose order as bytes is the order of the ids.
   */
  LEAFID_TEXT_FORM_BASE32 = 1,
  /**
   * 11 characters of 0-9, A-Z and a-z, whose order as bytes is the order of the ids.
   */
  LEAFID_TEXT_FORM_BASE62 = 2,
  /**
   * The UUID of leafid_id_to_uuid in lower case: 36 characters, whose order as bytes is the order of the ids.
   */
  LEAFID_TEXT_FORM_UUID = 3
};
#ifndef __cplusplus
#if (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
typedef enum leafid_text_form leafid_text_form;
#else
typedef int32_t leafid_text_form;
#endif /* __STDC_VERSION__ >= 202311L */
#endif /* __cplusplus */

/**
 * Encrypts ids to numbers of the same 63 bits and back, one to one: FF1 of NIST SP 800-38G. All threads may use it at
 * once, except while a key is added. docs/PUBLIC-IDS.md says what it hides and what it does not.
 */
typedef struct leafid_public_ids leafid_public_ids;

/**
 * Ids from segments: ranges of counters, one counter for each tag, leased from a source. Each tag has two segments
 * in memory, so that calls do not wait while the source is slow, or down for a while. All threads may use it at the
 * same time. A forked child may continue to use it: it issues none of its parent's ids, and fetches its own
 * segments.
 */
typedef struct leafid_segments leafid_segments;

/**
 * The options of segments. One thread may use them at a time; they may serve many openings. A setter that refuses
 * its value returns the error and changes nothing else. leafid_segments_open returns the first such error again, so
 * you need to check only its status. An option that is not set has its default.
 */
typedef struct leafid_segments_options leafid_segments_options;

/**
 * A generator of snowflake ids. All threads may use it at the same time. A forked child may continue to use it: it
 * claims its own worker id at its first call. The ids of one generator strictly increase.
 */
typedef struct leafid_snowflake leafid_snowflake;

/**
 * The options of a snowflake. One thread may use them at a time; they may serve many generators. A setter that
 * refuses its value returns the error and changes nothing else. leafid_snowflake_open returns the first such error
 * again, so you need to check only its status.
 */
typedef struct leafid_snowflake_options leafid_snowflake_options;

/**
 * The ids of one tag. All threads may use it at the same time. Ids come once each, in the order in which the source
 * gave them.
 */
typedef struct leafid_tag leafid_tag;

/**
 * The meaning of the 64 bits of an id. Fill it with leafid_layout_parse, then change fields. Every function that
 * takes a layout checks it: at most 63 bits together, and an end at or before 2^53 ms.
 */
typedef struct leafid_layout {
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
   * A leafid_order. Leaf's: LEAFID_ORDER_WORKER_SEQUENCE.
   */
  int32_t order;
} leafid_layout;

/**
 * The parts of an id.
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
 * Writes the clocks of peers, in Unix milliseconds, to `out`, which has room for `cap` of them, and their number to
 * `n`, which is 0 before. It is called before each claim: at an opening, in a forked child, and after a lease was
 * lost. The caller of that claim waits for it at most timeout_ms.
 *
 * Returns LEAFID_OK; or LEAFID_INVALID_ARGUMENT, which refuses the claim; or anything else. Anything else, and no
 * return in time, is logged with the text in `error`, and does not refuse the claim.
 *
 * The top of this header has the rules of all callbacks: on what thread they run and what they must not do.
 */
typedef int (*leafid_peer_times_fn)(void *user_data,
                                    int64_t *out,
                                    size_t cap,
                                    size_t *n,
                                    char *error,
                                    size_t error_cap);

/**
 * Called when leafid no longer needs a `user_data`: once for each function that got it, also if that function
 * refused its arguments. May be NULL.
 *
 * This is when the options are freed, the last handle opened with them is freed, and no call is in progress, not
 * even one that hung. It runs on the thread on which the last of these happens, which may be any thread of yours or
 * of leafid. It is called only in the process that passed the pointer, not in a forked child. It must not use
 * leafid.
 */
typedef void (*leafid_free_fn)(void *user_data);

/**
 * Writes to `worker_id` an id that no other process on any host holds. `name` is the id space. `previous` is the id
 * that this generator, or the parent of this forked child, held before; -1 at the first claim. The parent may
 * continue to use it. It is called once for a process, by leafid_snowflake_open or the first id, and once for a
 * forked child, by its first call.
 *
 * Returns LEAFID_OK; LEAFID_WORKER_IN_USE if none is free; or another leafid_status, or -1 for anything else, with a
 * text in `error`. The caller gets LEAFID_WORKER_LOST for a number that is not a status, and if the callback does
 * not return within timeout_ms.
 *
 * The top of this header has the rules of all callbacks: on what thread they run and what they must not do.
 */
typedef int (*leafid_claim_fn)(void *user_data,
                               const char *name,
                               int64_t previous,
                               int64_t *worker_id,
                               char *error,
                               size_t error_cap);

/**
 * The argument of a claim. New fields are added only at the end.
 */
typedef struct leafid_claim_request {
  /**
   * sizeof(leafid_claim_request) as the library knows it. Do not read beyond it.
   */
  size_t size;
  /**
   * The id space.
   */
  const char *name;
  /**
   * 128 random bits in hex, new for each claim.
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
   * The requested end of the span, Unix milliseconds. You may grant more or less.
   */
  int64_t until_ms;
} leafid_claim_request;

/**
 * A worker id and a span of time in which only one generator uses it. New fields are added only at the end.
 */
typedef struct leafid_lease {
  /**
   * sizeof(leafid_lease) as the library knows it. Do not read or write beyond it.
   */
  size_t size;
  /**
   * The worker id.
   */
  int64_t worker_id;
  /**
   * The start of the span, Unix milliseconds: at or above the until_ms of every earlier holder.
   */
  int64_t from_ms;
  /**
   * The end of the span, exclusive, Unix milliseconds, at most a week ahead. Store it before you return it, and
   * lower it only for a release.
   */
  int64_t until_ms;
  /**
   * How long the lease source keeps the id for this holder without a renewal, milliseconds, at most a week; 0:
   * until until_ms.
   */
  int64_t lease_ms;
  /**
   * The text by which the lease source knows this holder, UTF-8 that ends with a NUL; may be empty. renew and
   * release get it back.
   */
  char token[LEAFID_TOKEN_SIZE];
  /**
   * The clocks of other holders, Unix milliseconds. With three or more, a clock that differs by 10 s or more from
   * their median is refused with LEAFID_CLOCK_BACKWARDS.
   */
  int64_t peer_times_ms[LEAFID_MOST_PEERS];
  /**
   * The number of these clocks.
   */
  size_t peers;
} leafid_lease;

/**
 * Leases of worker ids from a place that all hosts share: a database, Redis, etcd, ZooKeeper. One rule makes ids
 * unique: a granted span overlaps no other span of the same worker id. So store until_ms before you return it, lower
 * it only for release, and set the next holder's from_ms at or above it.
 *
 * The top of this header has the rules of all callbacks: on what thread they run and what they must not do.
 */
typedef struct leafid_worker_leases {
  /**
   * sizeof(leafid_worker_leases) with which the caller was compiled.
   */
  size_t size;
  /**
   * Fills in `lease`. All fields are 0 before, except size, and worker_id, which is -1; a field that is not set
   * keeps that value. It is called when a generator is opened (or by its first id if it is lazy), by the first
   * call of a forked child, and after a lease was lost. Returns the same as leafid_claim_fn.
   */
  int (*claim)(void *user_data,
               const struct leafid_claim_request *request,
               struct leafid_lease *lease,
               char *error,
               size_t error_cap);
  /**
   * Extends the span of `lease`, which contains the current lease without its peers, to about `until_ms`. It writes
   * lease->until_ms, and lease_ms and token if they change; these two keep their values also if they are set to 0
   * or emptied. An until_ms below the last one has no effect. It is called when half of the lease is over, also
   * while no ids are made. LEAFID_WORKER_LOST means that another holder has the id: leafid claims a new one. Any other result
   * except LEAFID_OK, and no return in time, means that the result is unknown: leafid uses the current span to its
   * end, and repeats the call soon, with longer and longer pauses.
   */
  int (*renew)(void *user_data, struct leafid_lease *lease, int64_t until_ms, char *error, size_t error_cap);
  /**
   * Releases the id when the last handle is closed: no id at or after `until_ms` was issued or will be issued. It
   * is also called for a claim that returned too late for its caller. A failure is logged: the lease ends by
   * itself.
   */
  int (*release)(void *user_data, const struct leafid_lease *lease, int64_t until_ms, char *error, size_t error_cap);
} leafid_worker_leases;

/**
 * The numbers of a generator. New fields are added only at the end: see leafid_snowflake_stats.
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
   * Ids are durable up to this time, exclusive, Unix milliseconds.
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
   * How late the clock of clock_source may be, milliseconds; 0 for the system's clock.
   */
  int64_t clock_lag_ms;
  /**
   * The end of the worker id's lease, Unix milliseconds; 0 without one.
   */
  int64_t lease_until_ms;
  /**
   * How often a worker id was claimed: more than once when leases were lost.
   */
  uint64_t claims;
  /**
   * Ids issued since the claim of this worker id, with those that a thread reserved for its next calls.
   */
  uint64_t ids;
} leafid_snowflake_stats_t;

/**
 * A range of ids. New fields are added only at the end.
 */
typedef struct leafid_segment {
  /**
   * sizeof(leafid_segment) as the library knows it. Do not read or write beyond it.
   */
  size_t size;
  /**
   * The first id; not negative.
   */
  int64_t start;
  /**
   * The end, exclusive: above the last id.
   */
  int64_t end;
  /**
   * The distance between ids; 0 means 1.
   */
  int64_t stride;
  /**
   * Input: every id below it was given before. A counter that is lower has lost something.
   */
  int64_t after;
} leafid_segment;

/**
 * Writes to `out` a range of ids of `tag` that was never given before and will never be given again: take it from
 * its counter in one transaction, and return after the commit. `step` is the requested number of ids; you may give
 * more or less. Before the call all fields of `out` are 0, except size, after, and start, which is -1.
 *
 * Returns LEAFID_OK; LEAFID_UNKNOWN_TAG for an unknown tag, which callers get at once; or another leafid_status, or
 * -1 for anything else, with a text in `error`. After an error leafid calls again, with longer and longer pauses. A
 * caller that has waited timeout_ms gets that status, or LEAFID_SEGMENT_UNAVAILABLE for a number that is not a
 * status, and if the callback has not returned. An invalid range is LEAFID_SOURCE_INVALID, one that was given before
 * LEAFID_SEGMENT_REGRESSED; leafid uses no id of either.
 *
 * For one tag of one leafid_segments there is one call at a time, even if it hangs. For several tags there may be
 * four at once, and more if some have not returned for 100 ms. The callback cannot take an id of the same tag. The
 * top of this header has the other rules of all callbacks: on what thread they run and what they must not do.
 */
typedef int (*leafid_fetch_fn)(void *user_data,
                               const char *tag,
                               int64_t step,
                               struct leafid_segment *out,
                               char *error,
                               size_t error_cap);

/**
 * The numbers of a tag in this process. New fields are added only at the end: see leafid_tag_stats.
 */
typedef struct leafid_tag_stats_t {
  /**
   * The next id of the current segment; 0 without one.
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
   * Ids in memory.
   */
  uint64_t left;
  /**
   * The step of the last fetch; 0 before the first fetch from a source that sets the step itself.
   */
  int64_t step;
  /**
   * Whether a fetch is in progress, 1 or 0.
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
   * Calls that found no id in memory.
   */
  uint64_t waits;
  /**
   * Calls that wait now.
   */
  uint64_t waiting;
  /**
   * Ids that calls have taken, with those that a thread reserved for its next calls.
   */
  uint64_t ids;
} leafid_tag_stats_t;

/**
 * Gets one log record: its level, a leafid_log_level, and its text without a newline, valid during the call.
 *
 * It runs on leafid's own thread, with all signals blocked, for one record at a time, while leafid holds no lock: it
 * may take locks, write to a disk and use leafid. It must return, and not by longjmp or an exception.
 */
typedef void (*leafid_log_fn)(void *user_data, int32_t level, const char *message);

#ifdef __cplusplus
extern "C" {
#endif /* __cplusplus */

/**
 * The name of a status: "ok", "invalid_argument", "clock_backwards" and so on; "unknown" for any other number.
 * Static text; never NULL.
 */
const char *leafid_status_name(int32_t status);

/**
 * Whether the same call can succeed later without a manual change: for example LEAFID_WORKER_IN_USE, not
 * LEAFID_STATE_CORRUPT. False for LEAFID_OK and for unknown numbers.
 */
bool leafid_status_can_retry(int32_t status);

/**
 * The version of the loaded library, such as "0.1.0"; LEAFID_VERSION is the version of the header. Static text;
 * never NULL.
 */
const char *leafid_version(void);

/**
 * The text of the last error that a function of leafid returned to the calling thread, as snprintf would write it:
 * at most `cap` - 1 bytes and a NUL go to `buf`, cut between characters, and the function returns the length of the
 * whole text in bytes without the NUL. It begins with the status' name: "worker_in_use: worker id 7 is held by ...".
 * The text is empty, and the length 0, if there was no error; a success does not clear it. With `cap` 0 or `buf`
 * NULL nothing is written. UTF-8.
 */
size_t leafid_last_error(char *buf,
                         size_t cap);

/**
 * Parses a layout: a preset ("leaf", "uid-generator", "yitter", "sonyflake", "js-safe") or bits of timestamp, worker
 * id and sequence as in "35|5|23" (with Leaf's epoch, ticks of 1 ms, worker id above sequence).
 *
 * Errors: LEAFID_INVALID_ARGUMENT.
 */
leafid_status leafid_layout_parse(const char *text,
                                  struct leafid_layout *out);

/**
 * The end of a layout: the first Unix millisecond that has no id. `layout` NULL: Leaf's.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for an invalid layout.
 */
leafid_status leafid_layout_expires_at_ms(const struct leafid_layout *layout, int64_t *out);

/**
 * Takes an id apart. `layout` NULL: Leaf's.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a negative id, one with more bits than the layout, or an invalid layout.
 */
leafid_status leafid_decode(int64_t id, const struct leafid_layout *layout, struct leafid_parts *out);

/**
 * The same as leafid_decode, for an id in decimal text: ASCII digits only, no sign, no space, 0 to
 * 9223372036854775807.
 */
leafid_status leafid_decode_text(const char *text, const struct leafid_layout *layout, struct leafid_parts *out);

/**
 * Makes the id of these parts; `timestamp_ms` is Unix milliseconds and is floored to the tick. `layout` NULL:
 * Leaf's. For queries by time and for tests: such an id is not unique.
 *
 * Errors: LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, and LEAFID_INVALID_ARGUMENT for a worker id or a sequence
 * outside its bits or an invalid layout.
 */
leafid_status leafid_compose(int64_t timestamp_ms,
                             int64_t worker_id,
                             int64_t sequence,
                             const struct leafid_layout *layout,
                             int64_t *out);

/**
 * The smallest id of the tick that contains this time, Unix milliseconds. `layout` NULL: Leaf's. With
 * leafid_last_id_at it finds the ids of a period: WHERE id BETWEEN first_id_at(from) AND last_id_at(until).
 *
 * Errors: LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, and LEAFID_INVALID_ARGUMENT for an invalid layout.
 */
leafid_status leafid_first_id_at(int64_t timestamp_ms, const struct leafid_layout *layout, int64_t *out);

/**
 * The largest id of the tick that contains this time. Otherwise as leafid_first_id_at.
 */
leafid_status leafid_last_id_at(int64_t timestamp_ms, const struct leafid_layout *layout, int64_t *out);

/**
 * Writes the text of an id and a NUL. `form` is a leafid_text_form. `cap` is the size of `buf`: LEAFID_ID_TEXT_SIZE
 * is enough. A text that does not fit is not cut.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a negative id, and for a `buf` that is too small.
 */
leafid_status leafid_format_id(int64_t id, int32_t form, char *buf, size_t cap);

/**
 * Reads the text of an id. `form` is a leafid_text_form. leafid_decode_text reads decimal text, with leading zeros
 * too.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for all but the text that leafid_format_id writes.
 */
leafid_status leafid_parse_id(const char *text, int32_t form, int64_t *out);

/**
 * Writes the 16 bytes of an id's UUID, of version 8 (RFC 9562): the first 64 bits without its version and variant are
 * the id, and 58 zeros follow. memcmp of two UUIDs has the order of the ids.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a negative id.
 */
leafid_status leafid_id_to_uuid(int64_t id,
                                uint8_t *out);

/**
 * Reads the id of a UUID of 16 bytes.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for all but those that leafid_id_to_uuid writes.
 */
leafid_status leafid_uuid_to_id(const uint8_t *uuid, int64_t *out);

/**
 * Makes public ids of a key of `length` bytes, 16, 24 or 32, and its version, 0 to 31. The bytes are copied; overwrite
 * your own. Free it with leafid_public_ids_free.
 *
 * Errors: LEAFID_INVALID_ARGUMENT.
 */
LEAFID_MUST_USE
leafid_status leafid_public_ids_new(const uint8_t *key,
                                    size_t length,
                                    int64_t version,
                                    struct leafid_public_ids **out);

/**
 * The same as leafid_public_ids_new, with the key from `source`: "env:NAME", an environment variable, or "file:PATH".
 * Either has 32, 48 or 64 hexadecimal digits. No error shows a key.
 *
 * Errors: LEAFID_INVALID_ARGUMENT.
 */
LEAFID_MUST_USE
leafid_status leafid_public_ids_load(const char *source,
                                     int64_t version,
                                     struct leafid_public_ids **out);

/**
 * Adds a key of another version, which decrypts only. No other thread may use `ids` during the call.
 *
 * Errors: LEAFID_INVALID_ARGUMENT, also for a version that has a key.
 */
LEAFID_MUST_USE
leafid_status leafid_public_ids_add_key(struct leafid_public_ids *ids,
                                        const uint8_t *key,
                                        size_t length,
                                        int64_t version);

/**
 * The same as leafid_public_ids_add_key, with the key from a source as in leafid_public_ids_load.
 */
LEAFID_MUST_USE
leafid_status leafid_public_ids_load_key(struct leafid_public_ids *ids,
                                         const char *source,
                                         int64_t version);

/**
 * Encrypts an id with the key that leafid_public_ids_new got. `out` gets a number from 0 to 9223372036854775807.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for an id below 1.
 */
LEAFID_MUST_USE
leafid_status leafid_public_ids_encrypt(const struct leafid_public_ids *ids,
                                        int64_t id,
                                        int64_t *out);

/**
 * Decrypts a number with the key of this version. A number of another key gives another id: it is not recognized.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a negative number, for the one that would be of the id 0, and for a version
 * without a key.
 */
LEAFID_MUST_USE
leafid_status leafid_public_ids_decrypt(const struct leafid_public_ids *ids,
                                        int64_t public_id,
                                        int64_t version,
                                        int64_t *out);

/**
 * Writes the text of an encrypted id and a NUL: a digit for the version of the key, and the number in base32 or base62.
 * `form` is LEAFID_TEXT_FORM_BASE32 or LEAFID_TEXT_FORM_BASE62. `cap` is the size of `buf`: LEAFID_ID_TEXT_SIZE is
 * enough. A text that does not fit is not cut.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for an id below 1, for another form, and for a `buf` that is too small.
 */
leafid_status leafid_public_ids_format(const struct leafid_public_ids *ids,
                                       int64_t id,
                                       int32_t form,
                                       char *buf,
                                       size_t cap);

/**
 * Reads the id of a text that leafid_public_ids_format wrote, with the key of its version.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for another text, for another form, and for a version without a key.
 */
LEAFID_MUST_USE
leafid_status leafid_public_ids_parse(const struct leafid_public_ids *ids,
                                      const char *text,
                                      int32_t form,
                                      int64_t *out);

/**
 * Overwrites the keys and frees them. Call it once, when no thread uses `ids` any more. NULL does nothing.
 */
void leafid_public_ids_free(struct leafid_public_ids *ids);

/**
 * Creates options with all defaults. Free them with leafid_snowflake_options_free.
 */
leafid_status leafid_snowflake_options_new(struct leafid_snowflake_options **out);

/**
 * Frees options; call it once. Generators opened with them stay open. NULL does nothing.
 */
void leafid_snowflake_options_free(struct leafid_snowflake_options *options);

/**
 * The worker id, as text: "7"; "0-31" for any free id of the range, both ends included; "local" for any on this machine
 * alone; "hostname:orders" for N on a host called orders-N, "hostname:orders*8" for any of 8N to 8N+7; or URLs of lease
 * servers, such as "https://ids-1:8443", separated by commas. leafid prefers the first one and backs off from one that fails. It asks
 * them on its own threads, and claims, renews and releases a lease as leafid_worker_leases describes. Default: the
 * environment's LEAFID_WORKER; without either, leafid_snowflake_open refuses. If you call several of the functions
 * that set the source of worker ids, the last call counts.
 */
leafid_status leafid_snowflake_options_set_worker(struct leafid_snowflake_options *options,
                                                  const char *worker);

/**
 * The worker id: 0 to the largest one of the layout, 1023 in Leaf's.
 */
leafid_status leafid_snowflake_options_set_worker_id(struct leafid_snowflake_options *options, int64_t worker_id);

/**
 * A range of worker ids, both ends included: any free one is claimed.
 */
leafid_status leafid_snowflake_options_set_worker_range(struct leafid_snowflake_options *options,
                                                        int64_t first,
                                                        int64_t last);

/**
 * The id space: worker ids are unique within it, and two id spaces can make the same id. Give one name to all programs
 * that write into one column. It has its own directory. 1 to 64 of the characters A-Z a-z 0-9 . _ -, not beginning with
 * a dot. Default "default".
 */
leafid_status leafid_snowflake_options_set_name(struct leafid_snowflake_options *options,
                                                const char *name);

/**
 * The directory of the records of the worker ids; created if missing. Default: LEAFID_STATE_DIR, systemd's
 * STATE_DIRECTORY, /var/lib/leafid if writable, else the user's own state directory.
 */
leafid_status leafid_snowflake_options_set_state_dir(struct leafid_snowflake_options *options,
                                                     const char *state_dir);

/**
 * The layout, as leafid_layout_parse parses it. Default "leaf".
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
 * The longest wait of a call for its next id, milliseconds, 1 to 3600000. Default 2000.
 */
leafid_status leafid_snowflake_options_set_timeout_ms(struct leafid_snowflake_options *options, int64_t ms);

/**
 * Whether to store a record from which the next start continues: 1 or 0. Default 1. 0 gives up restart safety: a
 * start whose clock is behind the last id repeats ids. 0 is refused with a range. With 0 and without a lease, ids
 * never run ahead of the clock. The state directory is not used then.
 */
leafid_status leafid_snowflake_options_set_persist(struct leafid_snowflake_options *options, int32_t persist);

/**
 * Whether the state directory may be on a network file system, 1 or 0. Its locks must work between all hosts that
 * use it. Default 0.
 */
leafid_status leafid_snowflake_options_set_shared_fs(struct leafid_snowflake_options *options, int32_t shared_fs);

/**
 * Whether the members of one group share the state directory, 1 or 0. Files are then created with mode 0660,
 * whatever the umask, and directories with 2770. Files with secrets stay private to their owner. Default
 * LEAFID_SHARED_GROUP, else 0: 0640 and 0750 less the umask.
 */
leafid_status leafid_snowflake_options_set_shared_group(struct leafid_snowflake_options *options,
                                                        int32_t shared_group);

/**
 * Your statement that no other container or host has this range of worker ids, or that all that have it share the
 * state directory: 1 or 0. Without it a range is refused where leafid cannot see that the other processes of the
 * machine see which ids are held: in a container, or in a separate network namespace. Default
 * LEAFID_EXCLUSIVE_RANGE, else 0.
 */
leafid_status leafid_snowflake_options_set_exclusive_range(struct leafid_snowflake_options *options,
                                                           int32_t exclusive);

/**
 * How long a start that finds no record of its worker id issues nothing, milliseconds by the clock. Set it to how
 * far the clock of another host that used the worker id before may be ahead. Meanwhile calls are
 * LEAFID_CLOCK_BACKWARDS if the rest is longer than the timeout. Refused with leases, which need no wait. 0 to
 * 3600000; default LEAFID_NO_RECORD_WAIT_MS, else 0: off.
 */
leafid_status leafid_snowflake_options_set_no_record_wait_ms(struct leafid_snowflake_options *options, int64_t ms);

/**
 * Whether the worker id is claimed at the first id and not by leafid_snowflake_open, 1 or 0. Default 0. Errors of
 * the claim are then errors of that call. leafid_snowflake_open still checks the options.
 */
leafid_status leafid_snowflake_options_set_lazy(struct leafid_snowflake_options *options, int32_t lazy);

/**
 * Sent to lease servers as "Authorization: Bearer ...". Default: the environment's LEAFID_TOKEN, or the file
 * LEAFID_TOKEN_FILE. This, headers, the file of certificate authorities and the time-outs of requests and
 * connections need a worker that is a URL: leafid_snowflake_open refuses them with any other.
 */
leafid_status leafid_snowflake_options_set_token(struct leafid_snowflake_options *options, const char *token);

/**
 * Adds a header that is sent to lease servers with each request.
 */
leafid_status leafid_snowflake_options_add_header(struct leafid_snowflake_options *options,
                                                  const char *name,
                                                  const char *value);

/**
 * A PEM file of certificate authorities for lease servers, in addition to the system's. Default: LEAFID_CA_FILE.
 */
leafid_status leafid_snowflake_options_set_ca_file(struct leafid_snowflake_options *options, const char *path);

/**
 * The longest duration of a claim, renewal or release, over all lease servers, milliseconds, 1 to 3600000. Default
 * 1000.
 */
leafid_status leafid_snowflake_options_set_request_timeout_ms(struct leafid_snowflake_options *options, int64_t ms);

/**
 * The longest duration of a connection to a lease server, milliseconds, 1 to 3600000. Default 300.
 */
leafid_status leafid_snowflake_options_set_connect_timeout_ms(struct leafid_snowflake_options *options, int64_t ms);

/**
 * The clock that ids are made from: a leafid_clock_source. Default LEAFID_CLOCK_SOURCE_SYSTEM.
 */
leafid_status leafid_snowflake_options_set_clock_source(struct leafid_snowflake_options *options, int32_t source);

/**
 * The largest existing id of this layout, such as that of the generator before: every id will be of a later tick.
 */
leafid_status leafid_snowflake_options_set_start_after(struct leafid_snowflake_options *options, int64_t id);

/**
 * A callback that returns the clocks of peers. A clock that differs by 10 s or more from the median of three or more
 * is refused with LEAFID_CLOCK_BACKWARDS when a worker id is claimed. `free_user_data` may be NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT if `ask` is NULL.
 */
leafid_status leafid_snowflake_options_set_peer_times(struct leafid_snowflake_options *options,
                                                      leafid_peer_times_fn ask,
                                                      void *user_data,
                                                      leafid_free_fn free_user_data);

/**
 * A callback that returns the worker id, instead of _set_worker. The record in the state directory does the rest. An
 * id that another process of this host holds is LEAFID_WORKER_IN_USE, one outside the layout
 * LEAFID_INVALID_ARGUMENT.
 *
 * The same `claim` with the same `user_data` is the same option: two openings in one process share one generator.
 * `free_user_data` may be NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT if `claim` is NULL.
 */
leafid_status leafid_snowflake_options_set_worker_callback(struct leafid_snowflake_options *options,
                                                           leafid_claim_fn claim,
                                                           void *user_data,
                                                           leafid_free_fn free_user_data);

/**
 * Functions that lease worker ids, instead of _set_worker. `functions` is copied. An id that another process of this
 * host holds is LEAFID_WORKER_IN_USE. An invalid lease (an id outside the layout, a span that is empty, ended or
 * more than a week ahead, a token that is not UTF-8 or has no NUL, too many peers) is refused with
 * LEAFID_INVALID_ARGUMENT or LEAFID_WORKER_LOST at a claim, and is a failure at a renewal. leafid_snowflake_stats
 * has lease_until_ms.
 *
 * The same claim function with the same `user_data` is the same option: two openings in one process share one
 * generator. `free_user_data` may be NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a function that is NULL, or an invalid size.
 */
leafid_status leafid_snowflake_options_set_worker_leases(struct leafid_snowflake_options *options,
                                                         const struct leafid_worker_leases *functions,
                                                         void *user_data,
                                                         leafid_free_fn free_user_data);

/**
 * Claims a worker id, makes its first span durable on disk, and writes the generator to `out`. Two openings with the
 * same settings in one process share one generator. `options` NULL: all defaults, with LEAFID_WORKER and
 * LEAFID_STATE_DIR from the environment.
 *
 * Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT; LEAFID_WORKER_IN_USE, naming pid, host and start of
 * the holder; LEAFID_WORKER_LOST and every status that a callback or a lease server returns, with its text;
 * LEAFID_CLOCK_BACKWARDS, LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, LEAFID_STATE_IO, LEAFID_STATE_CORRUPT,
 * LEAFID_STATE_MISMATCH.
 */
LEAFID_MUST_USE
leafid_status leafid_snowflake_open(const struct leafid_snowflake_options *options,
                                    struct leafid_snowflake **out);

/**
 * The next id. Check the status: after an error `out` keeps its old value, which may be the id before.
 *
 * It takes nanoseconds, and waits at most timeout_ms for the clock or for the disk.
 *
 * Errors: LEAFID_CLOSED, LEAFID_CLOCK_BACKWARDS, LEAFID_BEFORE_EPOCH, LEAFID_TIME_EXHAUSTED, LEAFID_STATE_IO,
 * LEAFID_WORKER_LOST, LEAFID_WOULD_BLOCK; in a forked child, in the first call of a lazy generator, and where a lost
 * lease cannot be claimed again, also those of leafid_snowflake_open.
 */
LEAFID_MUST_USE
leafid_status leafid_snowflake_next(const struct leafid_snowflake *flake,
                                    int64_t *out);

/**
 * Writes `n` ids to `out`, all or nothing; in increasing order, not always consecutive. `n` is 0 to 16777216; for 0
 * `out` may be NULL.
 *
 * Errors: as leafid_snowflake_next, and LEAFID_INVALID_ARGUMENT for `n`. After an error the values in `out` are not
 * ids.
 */
LEAFID_MUST_USE leafid_status leafid_snowflake_fill(const struct leafid_snowflake *flake, int64_t *out, size_t n);

/**
 * The same as leafid_snowflake_fill, into memory that leafid allocates. Free it with leafid_ids_free and the same
 * `n`. For 0 ids it is NULL.
 */
LEAFID_MUST_USE leafid_status leafid_snowflake_take(const struct leafid_snowflake *flake, size_t n, int64_t **out);

/**
 * Frees the memory of leafid_snowflake_take and leafid_tag_take; `n` is the number requested there. NULL does
 * nothing.
 */
void leafid_ids_free(int64_t *ids, size_t n);

/**
 * Closes a generator, from any thread and at any time. Calls of other threads, and every later call, get
 * LEAFID_CLOSED. The last handle of a generator records the exact first unused tick and releases the worker id. A
 * second close returns LEAFID_OK. You still have to free the handle.
 *
 * Errors: LEAFID_STATE_IO if the record could not be written, LEAFID_WORKER_LOST if it is no longer this generator's;
 * the generator is closed anyway.
 */
leafid_status leafid_snowflake_close(const struct leafid_snowflake *flake);

/**
 * Closes and frees a handle; call it once, when no thread uses it any more. NULL does nothing. In a forked child
 * that never used the generator, it closes nothing of the parent.
 */
void leafid_snowflake_free(struct leafid_snowflake *flake);

/**
 * Writes the numbers of a generator. `size` is sizeof(leafid_snowflake_stats_t) with which the caller was compiled:
 * a library that knows more fields omits them, one that knows fewer sets the rest to 0.
 *
 * In a forked child, and for a lazy generator that holds no worker id yet, this function, leafid_snowflake_worker_id and
 * those that write a text claim one first, and may wait for it.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a size below that of the first version, LEAFID_CLOSED; if it claims, also those of
 * leafid_snowflake_open.
 */
leafid_status leafid_snowflake_stats(const struct leafid_snowflake *flake,
                                     struct leafid_snowflake_stats_t *out,
                                     size_t size);

/**
 * The worker id that the generator holds.
 *
 * Errors: LEAFID_CLOSED; if it claims, as leafid_snowflake_stats says, also those of leafid_snowflake_open.
 */
leafid_status leafid_snowflake_worker_id(const struct leafid_snowflake *flake, uint32_t *out);

/**
 * The layout of the generator's ids, with its epoch, also of a closed generator.
 */
leafid_status leafid_snowflake_layout(const struct leafid_snowflake *flake, struct leafid_layout *out);

/**
 * The generator's id space, as text: at most `cap` - 1 bytes and a NUL go to `buf`, the length of the whole text
 * without the NUL to `needed`, which may be NULL. `buf` may be NULL when `cap` is 0.
 *
 * Errors: as leafid_snowflake_worker_id.
 */
leafid_status leafid_snowflake_name(const struct leafid_snowflake *flake, char *buf, size_t cap, size_t *needed);

/**
 * The directory of the records, with the id space's sub-directory; empty if none are stored. Text as
 * leafid_snowflake_name writes it.
 *
 * Errors: as leafid_snowflake_worker_id.
 */
leafid_status leafid_snowflake_state_dir(const struct leafid_snowflake *flake,
                                         char *buf,
                                         size_t cap,
                                         size_t *needed);

/**
 * The last error of a renewal of a span or a lease, empty after a success. Text as leafid_snowflake_name writes it.
 * The errors of calls are in leafid_last_error.
 *
 * Errors: as leafid_snowflake_worker_id.
 */
leafid_status leafid_snowflake_last_error(const struct leafid_snowflake *flake,
                                          char *buf,
                                          size_t cap,
                                          size_t *needed);

/**
 * Creates options with all defaults. Free them with leafid_segments_options_free.
 */
leafid_status leafid_segments_options_new(struct leafid_segments_options **out);

/**
 * Frees options; call it once. Segments opened with them stay open. NULL does nothing.
 */
void leafid_segments_options_free(struct leafid_segments_options *options);

/**
 * The id space: a range that a source gives twice to one of its tags is refused. Two databases or two clusters need
 * two id spaces. The same characters as for leafid_snowflake_options_set_name. Default "default".
 */
leafid_status leafid_segments_options_set_name(struct leafid_segments_options *options, const char *name);

/**
 * The directory of the marks: the end of the ranges that each tag got. Created if missing. Default as for
 * leafid_snowflake_options_set_state_dir.
 */
leafid_status leafid_segments_options_set_state_dir(struct leafid_segments_options *options, const char *state_dir);

/**
 * Whether to store the marks, 1 or 0. Default 1. With 0 only this process notices a source that repeats itself.
 */
leafid_status leafid_segments_options_set_persist(struct leafid_segments_options *options, int32_t persist);

/**
 * Whether the state directory and file:DIR may be on a network file system, 1 or 0. Its locks must work between all
 * hosts that use it. Default 0.
 */
leafid_status leafid_segments_options_set_shared_fs(struct leafid_segments_options *options, int32_t shared_fs);

/**
 * Whether the members of one group share the state directory and file:DIR, 1 or 0. Files are then created with mode
 * 0660, whatever the umask, and directories with 2770. Files with secrets stay private to their owner. Default
 * LEAFID_SHARED_GROUP, else 0: 0640 and 0750 less the umask.
 */
leafid_status leafid_segments_options_set_shared_group(struct leafid_segments_options *options,
                                                       int32_t shared_group);

/**
 * How many ids to ask for at a time, 1 to 1000000. Default: the source's own; 1000 for a callback. A Leaf gives one
 * id per request: then it is the number of ids in stock, 1000 by default. Refused with tinyid, whose table sets it.
 */
leafid_status leafid_segments_options_set_step(struct leafid_segments_options *options, int64_t step);

/**
 * Whether the step follows the use, 1 or 0. It doubles, up to 1000000, when a segment lasted less than 15 minutes,
 * and halves when it lasted 30 or more, never below the first one. Default 1. The stock of a Leaf starts with one id
 * and grows up to the step with the use; 0 fills it at once.
 */
leafid_status leafid_segments_options_set_adaptive(struct leafid_segments_options *options,
                                                   int32_t adaptive);

/**
 * The next segment is fetched when more than this percentage of a segment is used, 0 to 100. Default 10.
 */
leafid_status leafid_segments_options_set_prefetch(struct leafid_segments_options *options, int64_t percent);

/**
 * The longest wait of a call for its next id, milliseconds, 1 to 3600000. Default 2000. A call for many ids that
 * makes progress continues.
 */
leafid_status leafid_segments_options_set_timeout_ms(struct leafid_segments_options *options, int64_t ms);

/**
 * Adds a tag that leafid_segments_open fetches at once, in the background; at most 1000. If you call this function
 * and _set_prewarm_last_day, the last call counts.
 */
leafid_status leafid_segments_options_add_prewarm(struct leafid_segments_options *options, const char *tag);

/**
 * Whether leafid_segments_open fetches the tags that were fetched within the last day, according to the state
 * directory, 1 or 0: at most 1000. Default 0.
 */
leafid_status leafid_segments_options_set_prewarm_last_day(struct leafid_segments_options *options,
                                                           int32_t last_day);

/**
 * Whether a clean close stores the unused ids for the next opening on this machine, for a day at most, 1 or 0.
 * Default 0: they become a gap.
 */
leafid_status leafid_segments_options_set_keep_unused(struct leafid_segments_options *options, int32_t keep_unused);

/**
 * Whether the source gives every segment of a tag above all earlier ones, so that one below is refused, 1 or 0.
 * Default 1; 0 for tinyid, and for a Leaf, whose nodes interleave and which refuses 1. With 0 only segments that
 * overlap a remembered one are refused.
 */
leafid_status leafid_segments_options_set_ordered_source(struct leafid_segments_options *options, int32_t ordered);

/**
 * Adds a source of segments: the URL of a server, such as "http://leaf-1:8080"; leafid prefers the first one and
 * backs off from one that fails. Or "file:DIR" alone, a directory that the processes of one host share.
 */
leafid_status leafid_segments_options_add_server(struct leafid_segments_options *options, const char *server);

/**
 * The protocol of the servers: a leafid_protocol. Default LEAFID_PROTOCOL_LEAF.
 */
leafid_status leafid_segments_options_set_protocol(struct leafid_segments_options *options, int32_t protocol);

/**
 * The longest duration of a request, over all servers, milliseconds, 1 to 3600000. Default 1000.
 */
leafid_status leafid_segments_options_set_request_timeout_ms(struct leafid_segments_options *options, int64_t ms);

/**
 * The longest duration of a connection to a server, milliseconds, 1 to 3600000. Default 300.
 */
leafid_status leafid_segments_options_set_connect_timeout_ms(struct leafid_segments_options *options, int64_t ms);

/**
 * The number of kept-alive connections to each server, 1 to 64; with a Leaf also the number of concurrent requests,
 * for all tags together. Default 4.
 */
leafid_status leafid_segments_options_set_connections(struct leafid_segments_options *options, int64_t connections);

/**
 * How many ids N one number of a Leaf stands for, 2 to 1000000: number n for n * N to (n + 1) * N - 1. Each tag must
 * then be called ...-xN, in Leaf's table too. Such a tag is refused without this option, so that all users of it
 * agree. Default: a number is an id. With other sources, 1 is your word that tags called so are no blocks of ids for
 * anybody.
 */
leafid_status leafid_segments_options_set_block_size(struct leafid_segments_options *options,
                                                     int64_t ids);

/**
 * Sent to servers as "Authorization: Bearer ..."; to tinyid as its own token. Default: the environment's LEAFID_TOKEN, or
 * the file LEAFID_TOKEN_FILE.
 */
leafid_status leafid_segments_options_set_token(struct leafid_segments_options *options,
                                                const char *token);

/**
 * Adds a header that is sent to servers with each request.
 */
leafid_status leafid_segments_options_add_header(struct leafid_segments_options *options,
                                                 const char *name,
                                                 const char *value);

/**
 * A PEM file of certificate authorities for servers, in addition to the system's. Default: LEAFID_CA_FILE.
 */
leafid_status leafid_segments_options_set_ca_file(struct leafid_segments_options *options, const char *path);

/**
 * Adds a counter of a file:DIR source, created if missing, with `start` as its first id, 0 to 2^63 - 2, and `step`
 * ids per fetch, 1 to 16777216. An existing one continues, with this step.
 */
leafid_status leafid_segments_options_add_file_tag(struct leafid_segments_options *options,
                                                   const char *tag,
                                                   int64_t start,
                                                   int64_t step);

/**
 * Whether to create the directory of a file:DIR source if it is missing, 1 or 0. Default 0, because a lost counter
 * must not start again by itself.
 */
leafid_status leafid_segments_options_set_create(struct leafid_segments_options *options, int32_t create);

/**
 * Gets segments from a callback, for example from your own database, instead of servers. `free_user_data` may be
 * NULL.
 *
 * Errors: LEAFID_INVALID_ARGUMENT if `fetch` is NULL.
 */
leafid_status leafid_segments_options_set_fetch(struct leafid_segments_options *options,
                                                leafid_fetch_fn fetch,
                                                void *user_data,
                                                leafid_free_fn free_user_data);

/**
 * Opens segments. No source is asked yet, except for prewarmed tags. Each opening has its own segments.
 *
 * Errors: the first one of a setter; LEAFID_INVALID_ARGUMENT, also if neither servers nor a callback are set;
 * LEAFID_STATE_IO; for a file:DIR source LEAFID_UNKNOWN_TAG for a directory without its marker,
 * LEAFID_STATE_CORRUPT.
 */
LEAFID_MUST_USE
leafid_status leafid_segments_open(const struct leafid_segments_options *options,
                                   struct leafid_segments **out);

/**
 * The ids of the tag of this name: 1 to 128 bytes of UTF-8 without control characters. Nothing is fetched yet. Free
 * it with leafid_tag_free. Several handles of one name are one tag.
 *
 * Errors: LEAFID_INVALID_ARGUMENT, LEAFID_CLOSED.
 */
LEAFID_MUST_USE
leafid_status leafid_segments_tag(const struct leafid_segments *segments,
                                  const char *tag,
                                  struct leafid_tag **out);

/**
 * Closes segments, from any thread and at any time. Calls that wait for an id of any of their tags, and every later
 * call, get LEAFID_CLOSED. Unused ids become a gap, or with keep_unused are stored for the next opening. A second
 * close returns LEAFID_OK. You still have to free the handle. It does not wait for a callback that runs or hangs.
 *
 * Errors: LEAFID_STATE_IO if the unused ids could not be stored; the segments are closed anyway.
 */
leafid_status leafid_segments_close(const struct leafid_segments *segments);

/**
 * Frees a handle; call it once, when no thread uses it any more. It closes the segments, unless some of their tags
 * are not freed yet: then the last of them closes the segments. NULL does nothing. In a forked child it closes
 * nothing of the parent.
 */
void leafid_segments_free(struct leafid_segments *segments);

/**
 * The next id. Check the status: after an error `out` keeps its old value, which may be the id before.
 *
 * It takes nanoseconds, and waits at most timeout_ms when both segments are used up.
 *
 * Errors: LEAFID_UNKNOWN_TAG and LEAFID_CLOSED, at once; after timeout_ms the one of the last fetch:
 * LEAFID_SEGMENT_UNAVAILABLE, LEAFID_SEGMENT_REGRESSED, LEAFID_SOURCE_INVALID, LEAFID_STATE_IO, LEAFID_STATE_CORRUPT,
 * LEAFID_STATE_MISMATCH, LEAFID_INVALID_ARGUMENT.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_next(const struct leafid_tag *tag,
                              int64_t *out);

/**
 * The same as leafid_tag_next, with its own timeout_ms, 1 to 3600000.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_next_within(const struct leafid_tag *tag,
                                     int64_t timeout_ms,
                                     int64_t *out);

/**
 * The next id if one is in memory. If not, it returns LEAFID_WOULD_BLOCK, and the fetch of the next segment has
 * started. It never waits.
 *
 * Errors: LEAFID_WOULD_BLOCK, LEAFID_UNKNOWN_TAG, LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_try_next(const struct leafid_tag *tag,
                                  int64_t *out);

/**
 * Writes `n` ids to `out`, all or nothing; in order, from as many segments as needed. `n` is 0 to 16777216; for 0
 * `out` may be NULL, and no source is asked. The source is asked for that many at once, if it can give them. It
 * waits at most timeout_ms for each segment.
 *
 * Errors: as leafid_tag_next, and LEAFID_INVALID_ARGUMENT for `n`. After an error the values in `out` are not ids;
 * the ids that the call had are put back and issued later.
 */
LEAFID_MUST_USE leafid_status leafid_tag_fill(const struct leafid_tag *tag, int64_t *out, size_t n);

/**
 * The same as leafid_tag_fill, with its own timeout_ms, 1 to 3600000.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_fill_within(const struct leafid_tag *tag,
                                     int64_t timeout_ms,
                                     int64_t *out,
                                     size_t n);

/**
 * The same as leafid_tag_fill, into memory that leafid allocates. Free it with leafid_ids_free and the same `n`. For
 * 0 ids it is NULL.
 */
LEAFID_MUST_USE
leafid_status leafid_tag_take(const struct leafid_tag *tag,
                              size_t n,
                              int64_t **out);

/**
 * Frees a handle; call it once, when no thread uses it any more. NULL does nothing. The last one closes its segments
 * if their handle was freed before.
 */
void leafid_tag_free(struct leafid_tag *tag);

/**
 * Writes the numbers of a tag. `size` is sizeof(leafid_tag_stats_t) with which the caller was compiled: a library
 * that knows more fields omits them, one that knows fewer sets the rest to 0.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for a size below that of the first version, LEAFID_CLOSED; in a forked child also those
 * of leafid_segments_open.
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
 * Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
 */
leafid_status leafid_tag_last_error(const struct leafid_tag *tag, char *buf, size_t cap, size_t *needed);

/**
 * The id space of segments. Text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
 */
leafid_status leafid_segments_name(const struct leafid_segments *segments, char *buf, size_t cap, size_t *needed);

/**
 * The kind of source, such as "callback". Text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
 */
leafid_status leafid_segments_source(const struct leafid_segments *segments, char *buf, size_t cap, size_t *needed);

/**
 * The directory of the marks, with the id space's sub-directory; empty if none are stored. Text as
 * leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
 */
leafid_status leafid_segments_state_dir(const struct leafid_segments *segments,
                                        char *buf,
                                        size_t cap,
                                        size_t *needed);

/**
 * The names of all tags that this process has used, each followed by a newline, which no name contains: for
 * leafid_segments_tag and leafid_tag_stats. Text as leafid_snowflake_name writes it.
 *
 * Errors: LEAFID_CLOSED; in a forked child also those of leafid_segments_open.
 */
leafid_status leafid_segments_tags(const struct leafid_segments *segments, char *buf, size_t cap, size_t *needed);

/**
 * The statistics of everything open in this process, in the OpenMetrics text format of Prometheus. Serve it as
 * "application/openmetrics-text; version=1.0.0; charset=utf-8". Text as leafid_snowflake_name writes it. Each call
 * makes a new text, so leave room beyond the `needed` of the call before. Reads memory only. A forked child shows
 * the generators that it has used itself.
 */
leafid_status leafid_metrics(char *buf, size_t cap, size_t *needed);

/**
 * Calls `callback` with `user_data` for each log record of `level` or a more severe one, instead of the previous
 * callback. NULL turns logging off, which is the default. The thread that calls it exists only while there are
 * records. Up to 256 of them wait for it; further ones are dropped, and the next record says how many. A forked
 * child continues with the same callback and its own records.
 *
 * When this returns, no call of the previous callback is in progress or comes later: you may free its `user_data`.
 * When logging is turned off, waiting records are delivered first, for a second at most. The function waits for a
 * call in progress however long it takes, so that call must not wait for the thread that is in this function. A
 * callback may itself call this function: then only its own call is still in progress. Turn logging off before the
 * things that it uses end, for example at the end of the program.
 *
 * Errors: LEAFID_INVALID_ARGUMENT for an invalid level.
 */
leafid_status leafid_set_log(leafid_log_fn callback, void *user_data, int32_t level);

#ifdef __cplusplus
}  // extern "C"
#endif  /* __cplusplus */

#endif  /* LEAFID_H */
