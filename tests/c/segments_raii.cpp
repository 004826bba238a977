// Segments in C++: results by value, errors as exceptions, handles that close themselves, std::function as a callback.
#include "leafid.hpp"

extern "C" {
// The harness is C, whose `_Noreturn` C++ has not.
#define _Noreturn [[noreturn]]
#include "check.h"
#undef _Noreturn
}

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

leafid::SegmentsOptions asking(leafid::Fetch fetch) {
    leafid::SegmentsOptions options;
    options.fetch(std::move(fetch)).name(fresh_name()).state_dir(fresh_dir()).timeout_ms(PATIENT_MS);
    return options;
}

// A counter from 1 for all tags.
leafid::Fetch counting() {
    auto next = std::make_shared<std::atomic<std::int64_t>>(1);
    return [next](const std::string &, std::int64_t step) -> std::optional<leafid::Segment> {
        std::int64_t start = next->fetch_add(step);
        return leafid::Segment{start, start + step};
    };
}

// Has a segment fetched that cannot be, and throws why.
void fail(leafid::Tag order) {
    try {
        order.try_next();
    } catch (const leafid::Error &) {
        // A tag that there is not is said at once.
    }
    EVENTUALLY(order.stats().failures > 0);
    order.next(50);
}

template <typename Call> void throws(Call call, leafid_status status, const std::string &part) {
    try {
        call();
        CHECK(!"an exception");
    } catch (const leafid::Error &error) {
        CHECK_NUMBER(error.status(), status);
        if (!CHECK(std::string(error.what()).find(part) != std::string::npos)) std::fprintf(stderr, "%s\n", error.what());
    }
}

void issues() {
    leafid::Segments segments(asking(counting()).step(10).adaptive(false).prefetch(50).prewarm("warm"));
    leafid::Tag order = segments.tag("order");
    std::int64_t first = order.next();
    CHECK(first >= 1 && order.next(1000) == first + 1);
    std::vector<std::int64_t> ids = order.take(3);
    CHECK(ids.size() == 3 && ids[0] == first + 2 && ids[2] == first + 4);
    CHECK(order.take(100, PATIENT_MS).size() == 100);
    std::int64_t few[2];
    order.fill(few, 2);
    CHECK(few[1] > few[0]);
    EVENTUALLY(order.try_next().has_value());
    CHECK(order.stats().fetches > 1 && order.last_error().empty());
    CHECK(order.name() == "order" && segments.source() == "callback");
    CHECK(!segments.name().empty() && segments.state_dir().find(segments.name()) != std::string::npos);
    std::vector<std::string> tags = segments.tags();
    CHECK(tags.size() == 2 && tags[0] == "order" && tags[1] == "warm");
    CHECK(order.take(0).empty());
    throws([&] { order.take(1 << 25); }, LEAFID_INVALID_ARGUMENT, "n is 33554432");
    throws([&] { order.take(std::size_t(-1)); }, LEAFID_INVALID_ARGUMENT, "n is 18446744073709551615");
    throws([&] { segments.tag("a\nb"); }, LEAFID_INVALID_ARGUMENT, "tag is \"a\\nb\"");
    segments.close();
    segments.close();
    throws([&] { order.next(); }, LEAFID_CLOSED, "closed");
    throws([&] { segments.tag("order"); }, LEAFID_CLOSED, "closed");
}

void callbacks() {
    auto failing = [](auto what) {
        return [what] {
            leafid::Fetch fetch = [what](const std::string &, std::int64_t) -> std::optional<leafid::Segment> {
                throw what;
            };
            fail(leafid::Segments(asking(fetch)).tag("order"));
        };
    };
    throws(failing(std::runtime_error("no table")), LEAFID_SEGMENT_UNAVAILABLE, "failed: no table");
    throws(failing(7), LEAFID_SEGMENT_UNAVAILABLE, "no std::exception");
    throws(failing(leafid::Error(LEAFID_SOURCE_INVALID, "a view")), LEAFID_SOURCE_INVALID, "failed: a view");
    throws(failing(leafid::Error(LEAFID_UNKNOWN_TAG, "no row")), LEAFID_UNKNOWN_TAG, "failed: no row");
    auto answering = [](std::optional<leafid::Segment> answer) {
        return [answer] {
            fail(leafid::Segments(asking([answer](const std::string &, std::int64_t) { return answer; })).tag("order"));
        };
    };
    throws(answering(std::nullopt), LEAFID_UNKNOWN_TAG, "knows no tag \"order\"");
    throws(answering(leafid::Segment{5, 5}), LEAFID_SOURCE_INVALID, "from 5 to 5");
    throws(answering(leafid::Segment{5, 9, -1}), LEAFID_SOURCE_INVALID, "by -1");
    throws([] { fail(leafid::Segments(asking(nullptr)).tag("order")); }, LEAFID_SEGMENT_UNAVAILABLE, "failed: ");
    std::optional<std::int64_t> none =
        leafid::Segments(asking([](const std::string &, std::int64_t) -> std::optional<leafid::Segment> {
            throw std::runtime_error("away");
        })).tag("order").try_next();
    CHECK(!none.has_value());
}

// A counter that has forgotten what it gave goes on above it.
void after() {
    leafid::SegmentsOptions options;
    options.fetch([](const std::string &, std::int64_t step, std::int64_t after) {
        std::int64_t start = after > 0 ? after : 1;
        return std::optional<leafid::Segment>({start, start + step});
    });
    options.step(10).adaptive(false).name(fresh_name()).state_dir(fresh_dir()).timeout_ms(PATIENT_MS);
    leafid::Tag order = leafid::Segments(options).tag("order");
    CHECK_NUMBER(order.next(), 1);
    CHECK_NUMBER(order.take(25).back(), 26);
    // What can be called with two arguments as well is.
    struct Rows {
        std::optional<leafid::Segment> fetch(const std::string &, std::int64_t step) {
            return leafid::Segment{1, 1 + step};
        }
    } rows;
    using namespace std::placeholders;
    options.fetch(std::bind(&Rows::fetch, &rows, _1, _2)).name(fresh_name());
    CHECK_NUMBER(leafid::Segments(options).tag("order").next(), 1);
    options.fetch(nullptr);
}

void lifetime() {
    static_assert(!std::is_copy_constructible<leafid::Segments>::value, "a handle has one owner");
    static_assert(std::is_nothrow_move_constructible<leafid::Segments>::value, "and can change it");
    static_assert(!std::is_copy_constructible<leafid::Tag>::value, "a handle has one owner");
    static_assert(std::is_nothrow_move_constructible<leafid::Tag>::value, "and can change it");
    auto kept = std::make_shared<int>(0);
    leafid::Fetch fetch = [kept, count = counting()](const std::string &tag, std::int64_t step) {
        return count(tag, step);
    };
    {
        // The tag holds what it needs.
        leafid::Tag order = leafid::Segments(asking(fetch)).tag("order");
        CHECK_NUMBER(order.next(), 1);
        leafid::Tag moved(std::move(order));
        CHECK_NUMBER(moved.next(), 2);
        throws([&] { order.next(); }, LEAFID_INVALID_ARGUMENT, "tag is NULL");
        leafid::Segments segments(asking(fetch)), other(std::move(segments));
        throws([&] { segments.tag("order"); }, LEAFID_INVALID_ARGUMENT, "segments is NULL");
        CHECK(kept.use_count() > 2);
    }
    fetch = nullptr;
    EVENTUALLY(kept.use_count() == 1);
}

// How many tags of this directory have unused ids.
int kept_in(const std::string &directory) {
    int count = 0;
    for (const auto &entry : std::filesystem::directory_iterator(directory)) {
        std::ifstream file(entry.path(), std::ios::binary);
        std::string bytes((std::istreambuf_iterator<char>(file)), {});
        count += bytes.find("\"kept\":{\"segments\"") != std::string::npos;
    }
    return count;
}

void options() {
    throws([] { leafid::Segments segments{leafid::SegmentsOptions()}; }, LEAFID_INVALID_ARGUMENT, "servers is not set");
    throws([] { leafid::SegmentsOptions().protocol(leafid_protocol(9)); }, LEAFID_INVALID_ARGUMENT, "protocol is 9");
    const std::string counters = std::string("file:") + fresh_dir() + "/counters", name = fresh_name(), state = fresh_dir();
    leafid::SegmentsOptions files;
    files.server(counters).create(true).file_tag("order", 7, 10).file_tag("invoice").name(name);
    files.state_dir(state).persist(true).shared_fs(false).shared_group(false).keep_unused(true).ordered_source(true);
    files.prewarm_last_day(true).timeout_ms(PATIENT_MS);
    {
        leafid::Segments segments(files);
        CHECK_NUMBER(segments.tag("order").next(), 7);
        CHECK_NUMBER(segments.tag("invoice").next(), 1);
    }
    CHECK_NUMBER(kept_in(state + "/" + name), 2);
    // A machine that takes too long for a write does not use again what was left.
    std::int64_t next = leafid::Segments(files).tag("order").next();
    CHECK(next == 8 || next > 16);
    leafid::SegmentsOptions servers;
    servers.server("http://127.0.0.1:9").server("http://127.0.0.1:19").protocol(LEAFID_PROTOCOL_RANGE).name(fresh_name());
    servers.state_dir(fresh_dir()).timeout_ms(10000).request_timeout_ms(100).connect_timeout_ms(50).connections(2);
    servers.token("secret").header("x-shop", "7");
    throws([&] { fail(leafid::Segments(servers).tag("order")); }, LEAFID_SEGMENT_UNAVAILABLE, "127.0.0.1");
    leafid::SegmentsOptions blocks;
    blocks.server("http://127.0.0.1:9").block_size(100).name(fresh_name()).state_dir(fresh_dir());
    throws([&] { leafid::Segments(blocks).tag("order"); }, LEAFID_INVALID_ARGUMENT, "-x100");
    blocks.protocol(LEAFID_PROTOCOL_LEAF_SNOWFLAKE);
    throws([&] { leafid::Segments opened(blocks); }, LEAFID_INVALID_ARGUMENT, "block_size is 100");
    throws([&] { leafid::Segments opened(servers.ca_file("/does/not/exist.pem")); }, LEAFID_INVALID_ARGUMENT, "ca_file");
}

} // namespace

int main() {
    test("C++: segments", issues);
    test("C++: fetch callbacks, whose exceptions become errors", callbacks);
    test("C++: a fetch callback gets the end of what was given", after);
    test("C++: segments and tags move, and close at the end of their scope", lifetime);
    test("C++: options of segments", options);
    return finish();
}
