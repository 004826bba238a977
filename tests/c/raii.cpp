// The C++ header: results by value, errors as exceptions, handles that close themselves.
#include "leafid.hpp"

extern "C" {
// The harness is C, whose `_Noreturn` C++ has not.
#define _Noreturn [[noreturn]]
#include "check.h"
#undef _Noreturn
}

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

leafid::Options options(const std::string &worker) {
    leafid::Options options;
    options.worker(worker).name(fresh_name()).state_dir(fresh_dir());
    return options;
}

void generates() {
    leafid::Snowflake flake(options("0-31").on_clock_backwards(LEAFID_ON_CLOCK_BACKWARDS_CONTINUE).timeout_ms(3000));
    std::int64_t id = flake.next();
    std::vector<std::int64_t> ids = flake.take(5000);
    CHECK(ids.size() == 5000 && ids.front() > id);
    for (std::size_t i = 1; i < ids.size(); i++) CHECK(ids[i] > ids[i - 1]);
    std::int64_t few[3];
    flake.fill(few, 3);
    CHECK(few[0] > ids.back());
    CHECK_NUMBER(leafid::decode(few[2]).worker_id, flake.worker_id());
    CHECK_NUMBER(leafid::decode(std::to_string(few[2])).sequence, leafid::decode(few[2]).sequence);
    CHECK_NUMBER(flake.stats().worker_id, flake.worker_id());
    CHECK(flake.last_error().empty() && !flake.name().empty() && !flake.state_dir().empty());
    CHECK_NUMBER(flake.layout().sequence_bits, 12);
}

void composes() {
    CHECK_NUMBER(leafid::compose(1567733700834, 39, 3448), INT64_C(1169786042799259000));
    leafid_layout sonyflake = leafid::layout("sonyflake");
    CHECK_NUMBER(leafid::decode(leafid::compose(1600000000000, 1, 2, &sonyflake), &sonyflake).sequence, 2);
}

template <typename Call> void throws(Call call, leafid_status status, const std::string &part) {
    try {
        call();
        CHECK(!"an exception");
    } catch (const leafid::Error &error) {
        CHECK_NUMBER(error.status(), status);
        CHECK_NUMBER(error.can_retry(), leafid_status_can_retry(status));
        if (!CHECK(std::string(error.what()).find(part) != std::string::npos)) std::fprintf(stderr, "%s\n", error.what());
    }
}

void errors() {
    throws([] { leafid::decode(-1); }, LEAFID_INVALID_ARGUMENT, "id is -1");
    throws([] { leafid::layout("leaves"); }, LEAFID_INVALID_ARGUMENT, "leaves");
    throws([] { leafid::Options().layout("42|10|12"); }, LEAFID_INVALID_ARGUMENT, "64 bits");
    throws([] { leafid::Snowflake flake(options("1024")); }, LEAFID_INVALID_ARGUMENT, "worker is \"1024\"");
    leafid::Snowflake flake(options("3"));
    throws([&] { flake.take(0); }, LEAFID_INVALID_ARGUMENT, "n is 0");
    throws([&] { flake.take(std::size_t(1) << 40); }, LEAFID_INVALID_ARGUMENT, "n is 1099511627776");
    throws([&] { flake.take(std::size_t(-1)); }, LEAFID_INVALID_ARGUMENT, "n is 18446744073709551615");
    flake.close();
    flake.close();
    throws([&] { flake.next(); }, LEAFID_CLOSED, "closed");
}

void lifetime() {
    static_assert(!std::is_copy_constructible<leafid::Snowflake>::value, "a handle has one owner");
    static_assert(std::is_nothrow_move_constructible<leafid::Snowflake>::value, "and can change it");
    leafid::Options fixed = options("12");
    std::int64_t last = -1;
    for (int i = 0; i < 3; i++) {
        // Freed at the end of each round, so that the next one starts above.
        leafid::Snowflake flake(fixed);
        CHECK(flake.next() > last);
        leafid::Snowflake moved(std::move(flake));
        last = moved.next();
        throws([&] { flake.next(); }, LEAFID_INVALID_ARGUMENT, "flake is NULL");
    }
}

} // namespace

int main() {
    test("C++: a generator", generates);
    test("C++: compose and decode", composes);
    test("C++: errors are exceptions with status and text", errors);
    test("C++: handles move, and close at the end of their scope", lifetime);
    return finish();
}
