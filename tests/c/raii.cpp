// The C++ header: results by value, errors as exceptions, handles that close themselves.
#include "leafid.hpp"

extern "C" {
// The harness is C, whose `_Noreturn` C++ has not.
#define _Noreturn [[noreturn]]
#include "check.h"
#undef _Noreturn
}

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

leafid::Options options(const std::string &worker) {
    leafid::Options options;
    options.worker(worker).name(fresh_name()).state_dir(fresh_dir()).timeout_ms(PATIENT_MS);
    return options;
}

void generates() {
    leafid::Snowflake flake(options("0-31").on_clock_backwards(LEAFID_ON_CLOCK_BACKWARDS_CONTINUE));
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
    CHECK(leafid::metrics().find(flake.name()) != std::string::npos);
}

void composes() {
    CHECK_NUMBER(leafid::compose(1567733700834, 39, 3448), INT64_C(1169786042799259000));
    CHECK_NUMBER(leafid::first_id_at(1567733700834), INT64_C(1169786042799095808));
    CHECK_NUMBER(leafid::last_id_at(1567733700834), INT64_C(1169786042803290111));
    CHECK(leafid::format_id(INT64_C(1169786042799259000), LEAFID_TEXT_FORM_BASE62) == "1OPdDHFpsF6");
    CHECK_NUMBER(leafid::parse_id("10EZA6N444ZBR", LEAFID_TEXT_FORM_BASE32), INT64_C(1169786042799259000));
    CHECK(leafid::format_id(1, LEAFID_TEXT_FORM_UUID) == "00000000-0000-8000-8400-000000000000");
    CHECK(leafid::id_to_uuid(1)[8] == 0x84 && leafid::id_to_uuid(1)[6] == 0x80);
    CHECK_NUMBER(leafid::uuid_to_id(leafid::id_to_uuid(INT64_C(1169786042799259000))), INT64_C(1169786042799259000));
    const std::uint8_t key[16] = {7}, other[32] = {8};
    leafid::PublicIds ids(key, sizeof key, 1), rotated(other, sizeof other, 2);
    rotated.add_key(key, sizeof key, 1);
    CHECK_NUMBER(ids.decrypt(ids.encrypt(42), 1), 42);
    CHECK_NUMBER(rotated.decrypt(ids.encrypt(42), 1), 42);
    CHECK_NUMBER(rotated.parse_id(ids.format_id(42, LEAFID_TEXT_FORM_BASE62), LEAFID_TEXT_FORM_BASE62), 42);
    CHECK(rotated.format_id(42, LEAFID_TEXT_FORM_BASE32)[0] == '2');
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
    CHECK(flake.take(0).empty());
    throws([&] { flake.take(1 << 25); }, LEAFID_INVALID_ARGUMENT, "n is 33554432");
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

leafid::Options asking(leafid::Claim claim) {
    return std::move(options("0").worker_callback(std::move(claim)));
}

void callbacks() {
    std::int64_t seen = 0;
    auto kept = std::make_shared<int>(0);
    {
        leafid::Snowflake flake(asking([&seen, kept](const std::string &name, std::int64_t previous) {
            seen = name.empty() ? 0 : previous;
            return std::int64_t(77);
        }).persist(false).start_after(1).clock_source(LEAFID_CLOCK_SOURCE_SYSTEM).shared_fs(false).shared_group(false)
            .exclusive_range(true).no_record_wait_ms(0).lazy(true));
        CHECK_NUMBER(seen, 0);
        CHECK_NUMBER(leafid::decode(flake.next()).worker_id, 77);
        CHECK_NUMBER(seen, -1);
        CHECK(kept.use_count() > 1);
    }
    EVENTUALLY(kept.use_count() == 1);
    auto throwing = [](auto what) {
        leafid::Claim claim = [what](const std::string &, std::int64_t) -> std::int64_t { throw what; };
        return [claim] { leafid::Snowflake opened(asking(claim)); };
    };
    throws(throwing(std::runtime_error("no table")), LEAFID_WORKER_LOST, "failed: no table");
    throws(throwing(7), LEAFID_WORKER_LOST, "no std::exception");
    throws(throwing(leafid::Error(LEAFID_WORKER_IN_USE, "all taken")), LEAFID_WORKER_IN_USE, "all taken");
    throws([] { leafid::Snowflake(asking([](const std::string &, std::int64_t) { return 1024; })); },
           LEAFID_INVALID_ARGUMENT, "worker_id is 1024");
    throws([] { leafid::Snowflake(asking(nullptr)); }, LEAFID_WORKER_LOST, "the claim of a worker id failed");
    throws([] { leafid::Snowflake(options("1").peer_times([] { return std::vector<std::int64_t>(100, 1); })); },
           LEAFID_INVALID_ARGUMENT, "n is 100; allowed: as the answer of peer_times 0 to 64");
    throws([] { leafid::Snowflake(options("1").peer_times([] { return std::vector<std::int64_t>(64, 1); })); },
           LEAFID_CLOCK_BACKWARDS, "median of its 64 peers");
    leafid::Snowflake(options("1").peer_times([]() -> std::vector<std::int64_t> { throw std::runtime_error("away"); }));
}

struct LeaseSource : leafid::WorkerLeases {
    std::atomic<int> claims{0}, renewals{0}, releases{0};
    void claim(const leafid_claim_request &request, leafid_lease &lease) override {
        lease.worker_id = 9 + claims++;
        lease.from_ms = request.now_ms;
        lease.until_ms = request.now_ms + 6000;
    }
    void renew(leafid_lease &lease, std::int64_t) override {
        if (lease.worker_id == 9) throw leafid::Error(LEAFID_WORKER_LOST, "taken away");
        lease.until_ms = now_ms() + 6000;
        renewals++;
    }
    void release(const leafid_lease &, std::int64_t) override {
        releases++;
        throw std::runtime_error("no server is there");
    }
};

void leases() {
    auto source = std::make_shared<LeaseSource>();
    {
        leafid::Snowflake flake(options("0").worker_leases(source));
        CHECK_NUMBER(leafid::decode(flake.next()).worker_id, 9);
        EVENTUALLY(source->renewals > 0);
        EVENTUALLY(flake.stats().claims >= 2);
        CHECK(leafid::decode(flake.next()).worker_id >= 10);
        CHECK(flake.stats().lease_until_ms > 0);
    }
    EVENTUALLY(source->releases == 1);
    EVENTUALLY(source.use_count() == 1);
    throws([] { leafid::Options().worker_leases(nullptr); }, LEAFID_INVALID_ARGUMENT, "worker_leases is empty");
}

// The scenarios say what the options become on the wire.
void lease_servers() {
    auto away = [] { return std::move(options("http://127.0.0.1:9,http://127.0.0.1:19").request_timeout_ms(60000)); };
    throws([&] { leafid::Snowflake(away().connect_timeout_ms(60000).token("secret").header("x-shop", "7")); },
           LEAFID_WORKER_LOST, "127.0.0.1:19");
    throws([&] { leafid::Snowflake(away().ca_file("/does/not/exist.pem")); }, LEAFID_INVALID_ARGUMENT, "ca_file is ");
    throws([] { leafid::Snowflake(options("7").token("secret")); }, LEAFID_INVALID_ARGUMENT, "token is set");
}

} // namespace

int main() {
    test("C++: a generator", generates);
    test("C++: compose and decode", composes);
    test("C++: errors are exceptions with status and text", errors);
    test("C++: handles move, and close at the end of their scope", lifetime);
    test("C++: callbacks, whose exceptions become errors", callbacks);
    test("C++: leases", leases);
    test("C++: lease servers", lease_servers);
    return finish();
}
