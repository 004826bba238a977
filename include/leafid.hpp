/*
 * leafid for C++17: handles that close themselves and errors as exceptions, over leafid.h, whose comments say what
 * each function does. Header only; link with libleafid.
 *
 * Example:
 *
 *     leafid::Snowflake flake(leafid::Options().worker("0-31").state_dir("/var/lib/orders"));
 *     std::int64_t id = flake.next();
 *     std::int64_t made_at_ms = leafid::decode(id).timestamp_ms;
 *
 *     leafid::Segments segments(leafid::SegmentsOptions().server("file:/var/lib/orders/numbers"));
 *     std::int64_t number = segments.tag("shop-7").next();
 */
#ifndef LEAFID_HPP
#define LEAFID_HPP

#if (defined(_MSVC_LANG) ? _MSVC_LANG : __cplusplus) < 201703L
#error "leafid.hpp needs C++17: compile with -std=c++17, or /std:c++17"
#endif

#include "leafid.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace leafid {

/// The exception of a failed call. `what()` is the text of leafid_last_error: the status' name, what happened, what to do.
class Error : public std::runtime_error {
public:
    Error(leafid_status status, const std::string &text) : std::runtime_error(text), status_(status) {}

    leafid_status status() const noexcept { return status_; }

    /// Whether the same call can succeed later without a manual change.
    bool can_retry() const noexcept { return leafid_status_can_retry(status_); }

private:
    leafid_status status_;
};

namespace detail {

[[noreturn]] inline void raise(leafid_status status) {
    std::string text(leafid_last_error(nullptr, 0) + 1, '\0');
    text.resize(leafid_last_error(&text[0], text.size()));
    throw Error(status, text);
}

inline void check(leafid_status status) {
    if (status != LEAFID_OK) raise(status);
}

/// Reads a text of unknown length; it may grow between the two calls.
template <typename Read> std::string text(Read read) {
    std::string text(255, '\0');
    for (;;) {
        std::size_t needed = 0;
        check(read(&text[0], text.size() + 1, &needed));
        bool whole = needed <= text.size();
        text.resize(needed);
        if (whole) return text;
    }
}

/// Runs a callback for C: an Error keeps its status, any other exception is a failure with its text.
template <typename Call> int answer(char *error, std::size_t error_cap, Call call) noexcept {
    try {
        call();
        return LEAFID_OK;
    } catch (const Error &thrown) {
        std::snprintf(error, error_cap, "%s", thrown.what());
        return thrown.status();
    } catch (const std::exception &thrown) {
        std::snprintf(error, error_cap, "%s", thrown.what());
    } catch (...) {
        std::snprintf(error, error_cap, "an exception that is no std::exception");
    }
    return -1;
}

/// Room for one if n is too large: leafid then refuses n by its name, which a failed allocation would not.
inline std::size_t room(std::size_t n) noexcept { return n <= (std::size_t(1) << 24) ? n : 1; }

/// The object behind a user_data.
template <typename T> T &given(void *user_data) { return *static_cast<T *>(user_data); }
template <typename T> void drop(void *user_data) { delete static_cast<T *>(user_data); }

} // namespace detail

/// Returns a worker id that no other process on any host holds; `previous` is the one held before, or -1. Throws
/// Error(LEAFID_WORKER_IN_USE, ...) if none is free. See leafid_claim_fn.
using Claim = std::function<std::int64_t(const std::string &name, std::int64_t previous)>;

/// Returns the clocks of peers, in Unix milliseconds: at most LEAFID_MOST_PEERS. See leafid_peer_times_fn.
using PeerTimes = std::function<std::vector<std::int64_t>()>;

/// Leases of worker ids, see leafid_worker_leases: a method fills in or changes the lease that it gets, and throws the
/// status that the function would return. leafid calls it on its own threads. It is destroyed there or on your thread,
/// with the last object that may call it.
class WorkerLeases {
public:
    virtual ~WorkerLeases() = default;
    virtual void claim(const leafid_claim_request &request, leafid_lease &lease) = 0;
    /// Throws Error(LEAFID_WORKER_LOST, ...) if another holder has the id.
    virtual void renew(leafid_lease &lease, std::int64_t until_ms) = 0;
    virtual void release(const leafid_lease &lease, std::int64_t until_ms) = 0;
};

namespace detail {

using Leases = std::shared_ptr<WorkerLeases>;

inline int ask_id(void *user_data, const char *name, std::int64_t previous, std::int64_t *worker_id, char *error,
                  std::size_t error_cap) noexcept {
    return answer(error, error_cap, [&] { *worker_id = given<Claim>(user_data)(name, previous); });
}

inline int ask_times(void *user_data, std::int64_t *out, std::size_t cap, std::size_t *n, char *error,
                     std::size_t error_cap) noexcept {
    return answer(error, error_cap, [&] {
        const std::vector<std::int64_t> times = given<PeerTimes>(user_data)();
        for (std::size_t i = 0; i < times.size() && i < cap; i++) out[i] = times[i];
        // More than fit are refused by this number.
        *n = times.size();
    });
}

inline int ask_claim(void *user_data, const leafid_claim_request *request, leafid_lease *lease, char *error,
                     std::size_t error_cap) noexcept {
    return answer(error, error_cap, [&] { given<Leases>(user_data)->claim(*request, *lease); });
}

inline int ask_renew(void *user_data, leafid_lease *lease, std::int64_t until_ms, char *error,
                     std::size_t error_cap) noexcept {
    return answer(error, error_cap, [&] { given<Leases>(user_data)->renew(*lease, until_ms); });
}

inline int ask_release(void *user_data, const leafid_lease *lease, std::int64_t until_ms, char *error,
                       std::size_t error_cap) noexcept {
    return answer(error, error_cap, [&] { given<Leases>(user_data)->release(*lease, until_ms); });
}

} // namespace detail

/// The options of a snowflake. Every setter throws Error for a value that it refuses. Snowflake checks the rest.
class Options {
public:
    Options() {
        leafid_snowflake_options *made = nullptr;
        detail::check(leafid_snowflake_options_new(&made));
        options_.reset(made);
    }

    Options &worker(const std::string &text) { return done(leafid_snowflake_options_set_worker(get(), text.c_str())); }
    Options &worker_id(std::int64_t id) { return done(leafid_snowflake_options_set_worker_id(get(), id)); }
    /// Both ends included.
    Options &worker_range(std::int64_t first, std::int64_t last) {
        return done(leafid_snowflake_options_set_worker_range(get(), first, last));
    }
    /// A function that returns the worker id. An empty one throws std::bad_function_call at the claim.
    Options &worker_callback(Claim claim) {
        return done(leafid_snowflake_options_set_worker_callback(
            get(), detail::ask_id, new Claim(std::move(claim)), detail::drop<Claim>));
    }
    /// An object that leases worker ids; not empty. Two openings with the same options object share one generator; two
    /// options objects do not.
    Options &worker_leases(std::shared_ptr<WorkerLeases> leases) {
        const leafid_worker_leases functions = {sizeof functions, detail::ask_claim, detail::ask_renew,
                                                detail::ask_release};
        if (!leases) {
            throw Error(LEAFID_INVALID_ARGUMENT, "invalid_argument: worker_leases is empty; allowed: an object");
        }
        return done(leafid_snowflake_options_set_worker_leases(
            get(), &functions, new detail::Leases(std::move(leases)), detail::drop<detail::Leases>));
    }
    Options &name(const std::string &name) { return done(leafid_snowflake_options_set_name(get(), name.c_str())); }
    Options &state_dir(const std::string &dir) {
        return done(leafid_snowflake_options_set_state_dir(get(), dir.c_str()));
    }
    Options &layout(const std::string &text) { return done(leafid_snowflake_options_set_layout(get(), text.c_str())); }
    Options &layout(const leafid_layout &layout) {
        return done(leafid_snowflake_options_set_layout_fields(get(), &layout));
    }
    Options &epoch_ms(std::int64_t ms) { return done(leafid_snowflake_options_set_epoch_ms(get(), ms)); }
    Options &on_clock_backwards(leafid_on_clock_backwards rule) {
        return done(leafid_snowflake_options_set_on_clock_backwards(get(), rule));
    }
    Options &max_backwards_ms(std::int64_t ms) {
        return done(leafid_snowflake_options_set_max_backwards_ms(get(), ms));
    }
    Options &on_exhausted(leafid_on_exhausted rule) {
        return done(leafid_snowflake_options_set_on_exhausted(get(), rule));
    }
    Options &random_start(std::int64_t below) {
        return done(leafid_snowflake_options_set_random_start(get(), below));
    }
    Options &timeout_ms(std::int64_t ms) { return done(leafid_snowflake_options_set_timeout_ms(get(), ms)); }
    Options &request_timeout_ms(std::int64_t ms) {
        return done(leafid_snowflake_options_set_request_timeout_ms(get(), ms));
    }
    Options &connect_timeout_ms(std::int64_t ms) {
        return done(leafid_snowflake_options_set_connect_timeout_ms(get(), ms));
    }
    Options &token(const std::string &token) { return done(leafid_snowflake_options_set_token(get(), token.c_str())); }
    /// Adds one.
    Options &header(const std::string &name, const std::string &value) {
        return done(leafid_snowflake_options_add_header(get(), name.c_str(), value.c_str()));
    }
    Options &ca_file(const std::string &path) {
        return done(leafid_snowflake_options_set_ca_file(get(), path.c_str()));
    }
    Options &persist(bool persist) { return done(leafid_snowflake_options_set_persist(get(), persist)); }
    Options &shared_fs(bool shared) { return done(leafid_snowflake_options_set_shared_fs(get(), shared)); }
    Options &shared_group(bool shared) { return done(leafid_snowflake_options_set_shared_group(get(), shared)); }
    Options &exclusive_range(bool exclusive) {
        return done(leafid_snowflake_options_set_exclusive_range(get(), exclusive));
    }
    Options &no_record_wait_ms(std::int64_t ms) {
        return done(leafid_snowflake_options_set_no_record_wait_ms(get(), ms));
    }
    Options &lazy(bool lazy) { return done(leafid_snowflake_options_set_lazy(get(), lazy)); }
    Options &clock_source(leafid_clock_source source) {
        return done(leafid_snowflake_options_set_clock_source(get(), source));
    }
    Options &start_after(std::int64_t id) { return done(leafid_snowflake_options_set_start_after(get(), id)); }
    Options &peer_times(PeerTimes ask) {
        return done(leafid_snowflake_options_set_peer_times(
            get(), detail::ask_times, new PeerTimes(std::move(ask)), detail::drop<PeerTimes>));
    }

    leafid_snowflake_options *get() const noexcept { return options_.get(); }

private:
    struct Free {
        void operator()(leafid_snowflake_options *options) const noexcept { leafid_snowflake_options_free(options); }
    };

    Options &done(leafid_status status) {
        detail::check(status);
        return *this;
    }

    std::unique_ptr<leafid_snowflake_options, Free> options_;
};

/// A generator of snowflake ids, closed when it goes out of scope. It can be moved and not copied. All threads may use it
/// at once. A moved-from one refuses every call with LEAFID_INVALID_ARGUMENT.
class Snowflake {
public:
    /// With the environment's LEAFID_WORKER and LEAFID_STATE_DIR.
    Snowflake() { open(nullptr); }
    explicit Snowflake(const Options &options) { open(options.get()); }

    std::int64_t next() {
        std::int64_t id;
        detail::check(leafid_snowflake_next(get(), &id));
        return id;
    }

    /// `n` ids, 0 to 16777216.
    std::vector<std::int64_t> take(std::size_t n) {
        std::vector<std::int64_t> ids(detail::room(n));
        detail::check(leafid_snowflake_fill(get(), ids.data(), n));
        return ids;
    }

    /// All or nothing.
    void fill(std::int64_t *out, std::size_t n) { detail::check(leafid_snowflake_fill(get(), out, n)); }

    leafid_snowflake_stats_t stats() const {
        leafid_snowflake_stats_t stats;
        detail::check(leafid_snowflake_stats(get(), &stats, sizeof stats));
        return stats;
    }

    std::uint32_t worker_id() const {
        std::uint32_t id;
        detail::check(leafid_snowflake_worker_id(get(), &id));
        return id;
    }

    leafid_layout layout() const {
        leafid_layout layout;
        detail::check(leafid_snowflake_layout(get(), &layout));
        return layout;
    }

    std::string name() const { return text(leafid_snowflake_name); }
    std::string state_dir() const { return text(leafid_snowflake_state_dir); }
    /// The last error of a renewal; empty after a success.
    std::string last_error() const { return text(leafid_snowflake_last_error); }

    /// From any thread, at any time, and twice.
    void close() { detail::check(leafid_snowflake_close(get())); }

    leafid_snowflake *get() const noexcept { return flake_.get(); }

private:
    struct Free {
        void operator()(leafid_snowflake *flake) const noexcept { leafid_snowflake_free(flake); }
    };

    void open(const leafid_snowflake_options *options) {
        leafid_snowflake *made = nullptr;
        detail::check(leafid_snowflake_open(options, &made));
        flake_.reset(made);
    }

    template <typename Function> std::string text(Function function) const {
        return detail::text([&](char *buf, std::size_t cap, std::size_t *needed) {
            return function(get(), buf, cap, needed);
        });
    }

    std::unique_ptr<leafid_snowflake, Free> flake_;
};

/// A range of ids; `end` is exclusive.
struct Segment {
    std::int64_t start;
    std::int64_t end;
    std::int64_t stride = 1;
};

/// Returns a range of ids of `tag` that was never given before; none for an unknown tag. See leafid_fetch_fn.
using Fetch = std::function<std::optional<Segment>(const std::string &tag, std::int64_t step)>;
/// The same. `after` is the end of the ranges of the tag that this host got before; 0 at first.
using FetchAfter =
    std::function<std::optional<Segment>(const std::string &tag, std::int64_t step, std::int64_t after)>;

namespace detail {

inline int ask_segment(void *user_data, const char *tag, std::int64_t step, leafid_segment *out, char *error,
                       std::size_t error_cap) noexcept {
    bool known = true;
    int status = answer(error, error_cap, [&] {
        const std::optional<Segment> segment = given<FetchAfter>(user_data)(tag, step, out->after);
        known = segment.has_value();
        if (!known) return;
        out->start = segment->start;
        out->end = segment->end;
        out->stride = segment->stride;
    });
    return status == LEAFID_OK && !known ? LEAFID_UNKNOWN_TAG : status;
}

} // namespace detail

/// The options of segments. Every setter throws Error for a value that it refuses. Segments checks the rest.
class SegmentsOptions {
public:
    SegmentsOptions() {
        leafid_segments_options *made = nullptr;
        detail::check(leafid_segments_options_new(&made));
        options_.reset(made);
    }

    /// Adds one.
    SegmentsOptions &server(const std::string &url) {
        return done(leafid_segments_options_add_server(get(), url.c_str()));
    }
    /// A function that gives segments, as Fetch or FetchAfter. An empty one throws std::bad_function_call at each fetch.
    template <class Function>
    SegmentsOptions &fetch(Function function) {
        if constexpr (std::is_invocable_v<Function &, const std::string &, std::int64_t>) {
            return fetch(FetchAfter([function = std::move(function)](
                                        const std::string &tag, std::int64_t step,
                                        std::int64_t) mutable -> std::optional<Segment> { return function(tag, step); }));
        } else {
            return done(leafid_segments_options_set_fetch(get(), detail::ask_segment,
                                                          new FetchAfter(std::move(function)),
                                                          detail::drop<FetchAfter>));
        }
    }
    SegmentsOptions &protocol(leafid_protocol protocol) {
        return done(leafid_segments_options_set_protocol(get(), protocol));
    }
    SegmentsOptions &step(std::int64_t step) { return done(leafid_segments_options_set_step(get(), step)); }
    SegmentsOptions &adaptive(bool adaptive) { return done(leafid_segments_options_set_adaptive(get(), adaptive)); }
    /// In percent.
    SegmentsOptions &prefetch(std::int64_t percent) {
        return done(leafid_segments_options_set_prefetch(get(), percent));
    }
    SegmentsOptions &timeout_ms(std::int64_t ms) { return done(leafid_segments_options_set_timeout_ms(get(), ms)); }
    SegmentsOptions &request_timeout_ms(std::int64_t ms) {
        return done(leafid_segments_options_set_request_timeout_ms(get(), ms));
    }
    SegmentsOptions &connect_timeout_ms(std::int64_t ms) {
        return done(leafid_segments_options_set_connect_timeout_ms(get(), ms));
    }
    SegmentsOptions &connections(std::int64_t connections) {
        return done(leafid_segments_options_set_connections(get(), connections));
    }
    SegmentsOptions &block_size(std::int64_t ids) {
        return done(leafid_segments_options_set_block_size(get(), ids));
    }
    SegmentsOptions &token(const std::string &token) {
        return done(leafid_segments_options_set_token(get(), token.c_str()));
    }
    /// Adds one.
    SegmentsOptions &header(const std::string &name, const std::string &value) {
        return done(leafid_segments_options_add_header(get(), name.c_str(), value.c_str()));
    }
    SegmentsOptions &ca_file(const std::string &path) {
        return done(leafid_segments_options_set_ca_file(get(), path.c_str()));
    }
    SegmentsOptions &name(const std::string &name) {
        return done(leafid_segments_options_set_name(get(), name.c_str()));
    }
    SegmentsOptions &state_dir(const std::string &dir) {
        return done(leafid_segments_options_set_state_dir(get(), dir.c_str()));
    }
    SegmentsOptions &persist(bool persist) { return done(leafid_segments_options_set_persist(get(), persist)); }
    SegmentsOptions &shared_fs(bool shared) { return done(leafid_segments_options_set_shared_fs(get(), shared)); }
    SegmentsOptions &shared_group(bool shared) {
        return done(leafid_segments_options_set_shared_group(get(), shared));
    }
    /// Adds one.
    SegmentsOptions &file_tag(const std::string &tag, std::int64_t start = 1, std::int64_t step = 1000) {
        return done(leafid_segments_options_add_file_tag(get(), tag.c_str(), start, step));
    }
    SegmentsOptions &create(bool create) { return done(leafid_segments_options_set_create(get(), create)); }
    /// Adds one.
    SegmentsOptions &prewarm(const std::string &tag) {
        return done(leafid_segments_options_add_prewarm(get(), tag.c_str()));
    }
    SegmentsOptions &prewarm_last_day(bool last_day) {
        return done(leafid_segments_options_set_prewarm_last_day(get(), last_day));
    }
    SegmentsOptions &keep_unused(bool keep) { return done(leafid_segments_options_set_keep_unused(get(), keep)); }
    SegmentsOptions &ordered_source(bool ordered) {
        return done(leafid_segments_options_set_ordered_source(get(), ordered));
    }

    leafid_segments_options *get() const noexcept { return options_.get(); }

private:
    struct Free {
        void operator()(leafid_segments_options *options) const noexcept { leafid_segments_options_free(options); }
    };

    SegmentsOptions &done(leafid_status status) {
        detail::check(status);
        return *this;
    }

    std::unique_ptr<leafid_segments_options, Free> options_;
};

/// The ids of one tag; made by Segments::tag. It can be moved and not copied. All threads may use it at once. A moved-from
/// one refuses every call with LEAFID_INVALID_ARGUMENT.
class Tag {
public:
    std::int64_t next() {
        std::int64_t id;
        detail::check(leafid_tag_next(get(), &id));
        return id;
    }

    /// With its own timeout_ms.
    std::int64_t next(std::int64_t timeout_ms) {
        std::int64_t id;
        detail::check(leafid_tag_next_within(get(), timeout_ms, &id));
        return id;
    }

    /// The next id if one is in memory; if not, the fetch of the next segment has started.
    std::optional<std::int64_t> try_next() {
        std::int64_t id;
        leafid_status status = leafid_tag_try_next(get(), &id);
        if (status == LEAFID_WOULD_BLOCK) return std::nullopt;
        detail::check(status);
        return id;
    }

    /// `n` ids, 0 to 16777216.
    std::vector<std::int64_t> take(std::size_t n) {
        std::vector<std::int64_t> ids(detail::room(n));
        detail::check(leafid_tag_fill(get(), ids.data(), n));
        return ids;
    }

    /// With its own timeout_ms.
    std::vector<std::int64_t> take(std::size_t n, std::int64_t timeout_ms) {
        std::vector<std::int64_t> ids(detail::room(n));
        detail::check(leafid_tag_fill_within(get(), timeout_ms, ids.data(), n));
        return ids;
    }

    /// All or nothing.
    void fill(std::int64_t *out, std::size_t n) { detail::check(leafid_tag_fill(get(), out, n)); }

    leafid_tag_stats_t stats() const {
        leafid_tag_stats_t stats;
        detail::check(leafid_tag_stats(get(), &stats, sizeof stats));
        return stats;
    }

    std::string name() const { return text(leafid_tag_name); }
    /// The error of the last fetch; empty after a success.
    std::string last_error() const { return text(leafid_tag_last_error); }

    leafid_tag *get() const noexcept { return tag_.get(); }

private:
    friend class Segments;

    struct Free {
        void operator()(leafid_tag *tag) const noexcept { leafid_tag_free(tag); }
    };

    explicit Tag(leafid_tag *tag) noexcept : tag_(tag) {}

    template <typename Function> std::string text(Function function) const {
        return detail::text([&](char *buf, std::size_t cap, std::size_t *needed) {
            return function(get(), buf, cap, needed);
        });
    }

    std::unique_ptr<leafid_tag, Free> tag_;
};

/// Ids from segments. Closed when it goes out of scope, or with its last Tag. It can be moved and not copied. All threads
/// may use it at once. A moved-from one refuses every call with LEAFID_INVALID_ARGUMENT.
class Segments {
public:
    explicit Segments(const SegmentsOptions &options) {
        leafid_segments *made = nullptr;
        detail::check(leafid_segments_open(options.get(), &made));
        segments_.reset(made);
    }

    /// Nothing is fetched yet.
    Tag tag(const std::string &name) const {
        leafid_tag *made = nullptr;
        detail::check(leafid_segments_tag(get(), name.c_str(), &made));
        return Tag(made);
    }

    std::string name() const { return text(leafid_segments_name); }
    /// The kind of source, such as "callback".
    std::string source() const { return text(leafid_segments_source); }
    std::string state_dir() const { return text(leafid_segments_state_dir); }

    /// The names of the tags that this process has used.
    std::vector<std::string> tags() const {
        const std::string lines = text(leafid_segments_tags);
        std::vector<std::string> names;
        for (std::size_t at = 0, end; (end = lines.find('\n', at)) != std::string::npos; at = end + 1) {
            names.push_back(lines.substr(at, end - at));
        }
        return names;
    }

    /// From any thread, at any time, and twice.
    void close() { detail::check(leafid_segments_close(get())); }

    leafid_segments *get() const noexcept { return segments_.get(); }

private:
    struct Free {
        void operator()(leafid_segments *segments) const noexcept { leafid_segments_free(segments); }
    };

    template <typename Function> std::string text(Function function) const {
        return detail::text([&](char *buf, std::size_t cap, std::size_t *needed) {
            return function(get(), buf, cap, needed);
        });
    }

    std::unique_ptr<leafid_segments, Free> segments_;
};

/// Takes an id apart; without a layout, Leaf's.
inline leafid_parts decode(std::int64_t id, const leafid_layout *layout = nullptr) {
    leafid_parts parts;
    detail::check(leafid_decode(id, layout, &parts));
    return parts;
}

/// The same as decode, for an id in decimal text.
inline leafid_parts decode(const std::string &text, const leafid_layout *layout = nullptr) {
    leafid_parts parts;
    detail::check(leafid_decode_text(text.c_str(), layout, &parts));
    return parts;
}

/// Makes the id of these parts; without a layout, Leaf's.
inline std::int64_t compose(std::int64_t timestamp_ms, std::int64_t worker_id, std::int64_t sequence,
                            const leafid_layout *layout = nullptr) {
    std::int64_t id;
    detail::check(leafid_compose(timestamp_ms, worker_id, sequence, layout, &id));
    return id;
}

/// The smallest id of the tick that contains this time; without a layout, Leaf's.
inline std::int64_t first_id_at(std::int64_t timestamp_ms, const leafid_layout *layout = nullptr) {
    std::int64_t id;
    detail::check(leafid_first_id_at(timestamp_ms, layout, &id));
    return id;
}

/// The largest id of the tick that contains this time; without a layout, Leaf's.
inline std::int64_t last_id_at(std::int64_t timestamp_ms, const leafid_layout *layout = nullptr) {
    std::int64_t id;
    detail::check(leafid_last_id_at(timestamp_ms, layout, &id));
    return id;
}

/// The text of an id.
inline std::string format_id(std::int64_t id, leafid_text_form form) {
    char text[LEAFID_ID_TEXT_SIZE];
    detail::check(leafid_format_id(id, form, text, sizeof text));
    return text;
}

/// The id of a text that format_id made.
inline std::int64_t parse_id(const std::string &text, leafid_text_form form) {
    std::int64_t id;
    detail::check(leafid_parse_id(text.c_str(), form, &id));
    return id;
}

/// The 16 bytes of an id's UUID.
inline std::array<std::uint8_t, 16> id_to_uuid(std::int64_t id) {
    std::array<std::uint8_t, 16> uuid;
    detail::check(leafid_id_to_uuid(id, uuid.data()));
    return uuid;
}

/// The id of a UUID that id_to_uuid made.
inline std::int64_t uuid_to_id(const std::array<std::uint8_t, 16> &uuid) {
    std::int64_t id;
    detail::check(leafid_uuid_to_id(uuid.data(), &id));
    return id;
}

/// Public ids: see leafid_public_ids. Its methods may be called from all threads, except while a key is added.
class PublicIds {
public:
    /// A key of 16, 24 or 32 bytes and its version, 0 to 31.
    PublicIds(const std::uint8_t *key, std::size_t length, std::int64_t version) {
        leafid_public_ids *ids;
        detail::check(leafid_public_ids_new(key, length, version, &ids));
        ids_.reset(ids);
    }

    /// The key from "env:NAME" or "file:PATH".
    PublicIds(const std::string &source, std::int64_t version) {
        leafid_public_ids *ids;
        detail::check(leafid_public_ids_load(source.c_str(), version, &ids));
        ids_.reset(ids);
    }

    /// Adds a key that decrypts only.
    void add_key(const std::uint8_t *key, std::size_t length, std::int64_t version) {
        detail::check(leafid_public_ids_add_key(get(), key, length, version));
    }
    void add_key(const std::string &source, std::int64_t version) {
        detail::check(leafid_public_ids_load_key(get(), source.c_str(), version));
    }

    std::int64_t encrypt(std::int64_t id) const {
        std::int64_t public_id;
        detail::check(leafid_public_ids_encrypt(get(), id, &public_id));
        return public_id;
    }

    std::int64_t decrypt(std::int64_t public_id, std::int64_t version) const {
        std::int64_t id;
        detail::check(leafid_public_ids_decrypt(get(), public_id, version, &id));
        return id;
    }

    /// LEAFID_TEXT_FORM_BASE32 or LEAFID_TEXT_FORM_BASE62.
    std::string format_id(std::int64_t id, leafid_text_form form) const {
        char text[LEAFID_ID_TEXT_SIZE];
        detail::check(leafid_public_ids_format(get(), id, form, text, sizeof text));
        return text;
    }

    std::int64_t parse_id(const std::string &text, leafid_text_form form) const {
        std::int64_t id;
        detail::check(leafid_public_ids_parse(get(), text.c_str(), form, &id));
        return id;
    }

    leafid_public_ids *get() const noexcept { return ids_.get(); }

private:
    struct Free {
        void operator()(leafid_public_ids *ids) const noexcept { leafid_public_ids_free(ids); }
    };
    std::unique_ptr<leafid_public_ids, Free> ids_;
};

/// Parses a preset's name, or bits such as "35|5|23".
inline leafid_layout layout(const std::string &text) {
    leafid_layout layout;
    detail::check(leafid_layout_parse(text.c_str(), &layout));
    return layout;
}

/// The statistics of everything open in this process, in Prometheus' text format.
inline std::string metrics() {
    return detail::text([](char *buf, std::size_t cap, std::size_t *needed) { return leafid_metrics(buf, cap, needed); });
}

} // namespace leafid

#endif /* LEAFID_HPP */
