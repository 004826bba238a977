package io.leafid;

import static io.leafid.Support.inThreads;
import static io.leafid.Support.refused;
import static io.leafid.Support.unique;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class TagTest {
    @TempDir
    Path dir;

    private final AtomicLong counter = new AtomicLong(1);

    private Segments.Builder options() {
        return Segments.builder().stateDir(dir.toString()).timeoutMs(60_000);
    }

    private Segment fetch(String tag, long step, long after) {
        if (tag.equals("unknown")) return null;
        long start = counter.getAndAdd(step);
        return new Segment(start, start + step);
    }

    @Test
    void idsAreUniqueAndIncreaseInThreadsHoweverTheyAreTaken() throws Exception {
        try (Segments segments = options().fetch(this::fetch).step(100).open()) {
            Tag tag = segments.tag("order");
            unique(inThreads(4, () -> {
                long[] ids = new long[60_000];
                for (int at = 0; at < ids.length; ) {
                    ids[at++] = tag.next();
                    ids[at++] = tag.next();
                    for (long id : tag.take(7)) ids[at++] = id;
                    ids[at++] = tag.nextAsync().join();
                    if (at % 10 != 0) throw new AssertionError(at);
                }
                return ids;
            }));
            assertTrue(tag.stats().fetches() > 1);
            assertEquals("order", segments.stats().tags().get(0).tag());
        }
    }

    @Test
    void allIdsOfARangeAreIssuedInTheirOrder() {
        try (Segments segments = options().fetch(this::fetch).step(1000).adaptive(false).open()) {
            Tag tag = segments.tag("order");
            for (long id = 1; id <= 5_000; id += 5) {
                assertEquals(id, tag.next());
                assertArrayEquals(new long[] {id + 1, id + 2}, tag.take(2));
                assertEquals(id + 3, tag.nextAsync().join());
                assertEquals(id + 4, tag.next(1_000));
            }
        }
    }

    /** A part that is put back after the others would be issued behind them. */
    @Test
    void whatACallHadIsIssuedInItsOrderAfterACancelAndAfterAFailure() throws Exception {
        CountDownLatch down = new CountDownLatch(1);
        Fetch two = (tag, step, after) -> {
            if (counter.get() > 200) {
                down.countDown();
                throw new IllegalStateException("down");
            }
            return fetch(tag, 100, after);
        };
        try (Segments segments = options().fetch(two).step(100).adaptive(false).open()) {
            Tag tag = segments.tag("order");
            for (long id = 1; id <= 3; id++) assertEquals(id, tag.next());
            CompletableFuture<long[]> call = tag.takeAsync(200);
            // By now it has all the others, and waits for three more.
            down.await();
            call.cancel(false);
            for (long id = 4; id <= 12; id++) assertEquals(id, tag.next());
            refused("segment_unavailable", () -> tag.take(200, 1));
            for (long id = 13; id <= 200; id++) assertEquals(id, tag.next());
        }
    }

    @Test
    void aCallThatIsRefusedTakesNoIds() {
        try (Segments segments = options().fetch(this::fetch).step(1000).adaptive(false).open()) {
            Tag tag = segments.tag("order");
            for (long id = 1; id <= 3; id++) assertEquals(id, tag.next());
            says("timeoutMs is 0; allowed: 1 to 3600000 milliseconds", () -> tag.take(900, 0));
            assertEquals(4, tag.next());
            says("timeoutMs is 3600001; allowed: 1 to 3600000 milliseconds", () -> tag.takeAsync(900, 3_600_001));
            // It is none that means the default.
            for (long ms : new long[] {-1, Long.MIN_VALUE}) {
                says("timeoutMs is " + ms + "; allowed: ", () -> tag.next(ms));
                says("timeoutMs is " + ms + "; allowed: ", () -> tag.take(900, ms));
                says("timeoutMs is " + ms + "; allowed: ", () -> tag.takeAsync(900, ms));
            }
            // No JVM has an array of this length.
            for (int n : new int[] {-1, 16_777_217, Integer.MAX_VALUE}) {
                says("n is " + n + "; allowed: 0 to 16777216 ids a call", () -> tag.take(n));
                says("n is " + n + "; allowed: 0 to 16777216 ids a call", () -> tag.takeAsync(n));
            }
            assertArrayEquals(new long[] {5, 6, 7}, tag.take(3, 3_600_000));
        }
    }

    private static void says(String said, Executable call) {
        String message = refused("invalid_argument", call).getMessage();
        assertTrue(message.startsWith(said), message);
    }

    @Test
    void anUnknownTagAndASourceThatFailsAreErrors() {
        AtomicLong calls = new AtomicLong();
        Fetch failing = (tag, step, after) -> {
            calls.incrementAndGet();
            throw new IllegalStateException("no connection");
        };
        try (Segments segments = options().fetch(this::fetch).open()) {
            refused("unknown_tag", () -> segments.tag("unknown").next());
            refused("invalid_argument", () -> segments.tag(""));
            assertEquals("tag is null: name the counter", refused("invalid_argument", () -> segments.tag(null)).getMessage());
        }
        try (Segments segments = options().name("failing").fetch(failing).timeoutMs(1_000).open()) {
            // A call whose time ends while the source is being asked says that instead.
            String said = "";
            while (!said.contains("no connection")) {
                said = refused("segment_unavailable", () -> segments.tag("order").next()).getMessage();
            }
            CompletableFuture<Long> later = segments.tag("order").nextAsync();
            assertTrue(refused("segment_unavailable", () -> Support.join(later)).canRetry());
            assertFalse(segments.tag("order").tryNext().isPresent());
        }
        assertTrue(calls.get() > 0);
    }

    @Test
    void manyWaitForOneFetch() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        Fetch slow = (tag, step, after) -> {
            answered.await();
            return fetch(tag, step, after);
        };
        try (Segments segments = options().fetch(slow).timeoutMs(600_000).open()) {
            Tag tag = segments.tag("order");
            List<CompletableFuture<Long>> waiting = new ArrayList<>();
            for (int at = 0; at < 500; at++) waiting.add(tag.nextAsync());
            // One that is cancelled takes none.
            waiting.remove(0).cancel(false);
            answered.countDown();
            long[] ids = waiting.stream().mapToLong(CompletableFuture::join).sorted().toArray();
            unique(List.of(ids));
        }
    }

    @Test
    void closedOnesIssueNothing() {
        Segments segments = options().fetch(this::fetch).open();
        Tag tag = segments.tag("order");
        tag.next();
        segments.close();
        segments.close();
        refused("closed", tag::next);
        refused("closed", () -> tag.take(1));
        refused("closed", () -> tag.take(0));
        assertEquals("Tag(order of Segments(callback))", tag.toString());
    }

    /** Two databases have two names, and may have one kind of source. */
    @Test
    void thoseThatTheProgramUsesAreOfOneName() {
        try (Segments one = options().name("one").fetch(this::fetch).open();
                Segments other = options().name("two").fetch(this::fetch).open()) {
            Leafid.use(one);
            assertEquals(one, Leafid.segments());
            Leafid.use(other);
            String said = assertThrows(IllegalStateException.class, Leafid::segments).getMessage();
            assertTrue(said.contains("name one, source callback") && said.contains("name two"), said);
        }
    }

    @Test
    void aDirectoryIsASource() {
        Segments.Builder counters = options().servers("file:" + dir.resolve("counters")).create(true).tag("order", 10, 5);
        try (Segments segments = counters.open()) {
            assertEquals(10, segments.tag("order").next());
        }
        try (Segments segments = counters.open()) {
            assertTrue(segments.tag("order").next() > 10);
        }
    }
}
