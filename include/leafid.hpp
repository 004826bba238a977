/*
 * leafid for C++17: handles that close themselves and errors as exceptions, over leafid.h, whose comments say what
 * each function does. Header only; link with libleafid.
 *
 * Example:
 *
 *     leafid::Snowflake flake(leafid::Options().worker("0-31").state_dir("/var/lib/orders"));
 *     std::int64_t id = flake.next();
 *     std::int64_t made_at_ms = leafid::decode(id).timestamp_ms;
 */
#ifndef LEAFID_HPP
#define LEAFID_HPP

#include "leafid.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace leafid {

/// What a call that failed throws. `what()` is the text of leafid_last_error: the status' name, what happened, what to do.
class Error : public std::runtime_error {
public:
    Error(leafid_status status, const std::string &text) : std::runtime_error(text), status_(status) {}

    leafid_status status() const noexcept { return status_; }

    /// Whether the same call can succeed later with nothing changed by hand.
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

} // namespace detail

/// The options of a snowflake; every setter throws Error for a value it refuses. The rest is checked by Snowflake.
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

/// A generator of snowflake ids, closed when it goes out of scope. Moves, does not copy; all threads may use it at once.
/// One that was moved from refuses every call with LEAFID_INVALID_ARGUMENT.
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

    /// `n` ids, 1 to 16777216.
    std::vector<std::int64_t> take(std::size_t n) {
        // Room for one when n is absurd: leafid then refuses it by name, which a failed allocation would not.
        std::vector<std::int64_t> ids(n - 1 < (std::size_t(1) << 24) ? n : 1);
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
    /// The last error of its own work in the background; empty when there was none.
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

/// Takes an id apart; without a layout, Leaf's.
inline leafid_parts decode(std::int64_t id, const leafid_layout *layout = nullptr) {
    leafid_parts parts;
    detail::check(leafid_decode(id, layout, &parts));
    return parts;
}

/// As decode, for an id in decimal text.
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

/// Reads a preset's name, or bits as in "35|5|23".
inline leafid_layout layout(const std::string &text) {
    leafid_layout layout;
    detail::check(leafid_layout_parse(text.c_str(), &layout));
    return layout;
}

} // namespace leafid

#endif /* LEAFID_HPP */
