package io.leafid;

import static io.leafid.Support.refused;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import simulated.crac.Core;

class CheckpointTest {
    @TempDir
    Path dir;

    private final AtomicLong counter = new AtomicLong(1);

    private Snowflake.Builder options() {
        return Snowflake.builder().stateDir(dir.toString()).worker(8, 9).exclusiveRange(true).timeoutMs(60_000);
    }

    private Segment fetch(String tag, long step, long after) {
        long start = counter.getAndAdd(step);
        return new Segment(start, start + step);
    }

    @Test
    void whatIsOpenIsClosedBeforeAndOpenAfter() throws Exception {
        try (Snowflake ids = options().open();
                Segments segments = Segments.builder().stateDir(dir.toString()).fetch(this::fetch).step(100).adaptive(false)
                        .timeoutMs(60_000).open()) {
            Tag tag = segments.tag("order");
            Set<Long> all = new HashSet<>(Set.of(ids.next()));
            assertEquals(1, tag.next());
            Core.checkpointRestore(() -> {
                refused("closed", ids::next);
                refused("closed", tag::next);
                refused("closed", () -> options().open());
                refused("closed", () -> segments.tag("new"));
                // Another copy that is restored: it has what this one had.
                try (Support.Copy copy = new Support.Copy(dir, "8-9")) {
                    all.add(copy.next());
                }
            });
            all.add(ids.next());
            assertEquals(3, all.size());
            assertEquals("Snowflake(worker_id=" + ids.workerId() + ")", ids.toString());
            long next = tag.next();
            assertTrue(next > 100, "the rest of the last range is in the copy, too: " + next);
            assertArrayEquals(new long[] {next + 1, next + 2}, tag.take(2));
            assertEquals(tag, segments.tag("order"));
            Core.checkpointRestore(() -> {});
            assertTrue(tag.next() > next);
        }
    }

    @Test
    void whatIsClosedMeanwhileStaysClosed() throws Exception {
        Snowflake ids = options().open();
        Core.checkpointRestore(ids::close);
        refused("closed", ids::next);
    }

    @Test
    void whatCannotBeOpenedAfterIsSaidAndTheOthersAreOpen() throws Exception {
        Support.Copy[] other = new Support.Copy[1];
        try (Snowflake ids = options().worker(8).open(); Snowflake rest = options().worker(20).open()) {
            Leafid.use(rest);
            Leafid.use(ids);
            LeafidException error = assertThrows(LeafidException.class, () -> Core.checkpointRestore(() -> {
                other[0] = new Support.Copy(dir, "8");
            }));
            assertEquals("worker_in_use", error.code());
            refused("closed", ids::next);
            assertEquals(20, rest.workerId());
            assertEquals(rest, Leafid.snowflake());
            assertEquals(8, other[0].workerId());
        } finally {
            other[0].close();
        }
    }

    /** A native generator is shared by settings: a handle that is freed late would go on in each copy. */
    @Test
    void oneThatIsGoneAndNotYetFreedIsClosed() throws Exception {
        CountDownLatch isFreeing = new CountDownLatch(1);
        CountDownLatch freed = new CountDownLatch(1);
        Cleanup.register(new Object(), () -> {
            isFreeing.countDown();
            try {
                freed.await();
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        });
        while (isFreeing.getCount() > 0) {
            System.gc();
            Thread.sleep(1);
        }
        try (Snowflake ids = options().open()) {
            WeakReference<Snowflake> gone = new WeakReference<>(options().open());
            assertEquals(2, ids.stats().handles());
            while (gone.get() != null) {
                System.gc();
                Thread.sleep(1);
            }
            Core.checkpointRestore(() -> {});
            assertEquals(1, ids.stats().handles());
        } finally {
            freed.countDown();
        }
    }

    @Test
    void whatIsClosedWhileItIsOpenedAgainStaysClosed() throws Exception {
        AtomicReference<Snowflake> ids = new AtomicReference<>();
        AtomicLong claims = new AtomicLong();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        ids.set(options().worker((space, previous) -> {
            // The second claim is that of after.
            if (claims.incrementAndGet() == 2) closed.completeAsync(() -> {
                ids.get().close();
                return null;
            });
            return 8L;
        }).open());
        Core.checkpointRestore(() -> {});
        closed.join();
        refused("closed", () -> ids.get().next());
    }

    /** A call that waits is answered, and not left. The ids that it had are in the copy, too. */
    @Test
    void aCallThatWaitsHearsOfIt() throws Exception {
        CountDownLatch answered = new CountDownLatch(1);
        Fetch slow = (tag, step, after) -> {
            if (counter.get() > 1) answered.await();
            return fetch(tag, step, after);
        };
        try (Segments segments = Segments.builder().stateDir(dir.toString()).fetch(slow).step(100).adaptive(false)
                .timeoutMs(600_000).open()) {
            Tag tag = segments.tag("order");
            for (long id = 1; id <= 3; id++) assertEquals(id, tag.next());
            CompletableFuture<long[]> waiting = tag.takeAsync(200);
            Core.checkpointRestore(() -> {
                refused("closed", () -> Support.join(waiting));
            });
            answered.countDown();
            long next = tag.next();
            assertTrue(next > 100, "the call had it: " + next);
        }
    }

    /** A lease server answers one claim with one lease, and each copy would send it. */
    @Test
    void aClaimWithoutAnAnswerIsNotSentAgainAfter() throws Exception {
        List<String> sent = Collections.synchronizedList(new ArrayList<>());
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", claim -> {
            sent.add(new ObjectMapper().readTree(claim.getRequestBody()).get("instance").asText());
            claim.close();
        });
        server.start();
        try (Snowflake ids = Snowflake.builder().stateDir(dir.toString()).lazy(true).timeoutMs(60_000)
                .worker("http://127.0.0.1:" + server.getAddress().getPort()).open()) {
            refused("worker_lost", ids::next);
            refused("worker_lost", ids::next);
            assertEquals(1, new HashSet<>(sent).size(), "one claim without a checkpoint: " + sent);
            int before = sent.size();
            Core.checkpointRestore(() -> {});
            refused("worker_lost", ids::next);
            List<String> after = sent.subList(before, sent.size());
            assertFalse(after.isEmpty() || after.contains(sent.get(0)), sent.toString());
        } finally {
            server.stop(0);
        }
    }

    /** Each copy would have the ids of a call that was served before, and whose future is done after. */
    @Test
    void whatIsHandedOverAfterItIsRefused() throws Exception {
        CountDownLatch served = new CountDownLatch(3);
        CountDownLatch restored = new CountDownLatch(1);
        ThreadFactory late = work -> {
            served.countDown();
            Thread thread = new Thread(() -> {
                try {
                    restored.await();
                    work.run();
                } catch (InterruptedException end) {
                    Thread.currentThread().interrupt();
                }
            });
            thread.setDaemon(true);
            return thread;
        };
        ExecutorService callbacks = Executors.newSingleThreadExecutor();
        Runnable end = Support.threads(Threads.CALLBACKS, late);
        try (Snowflake ids = options().lazy(true).open();
                Segments segments = Segments.builder().stateDir(dir.toString()).fetch(this::fetch).executor(callbacks)
                        .timeoutMs(60_000).open()) {
            Tag tag = segments.tag("order");
            List<CompletableFuture<?>> calls = List.of(ids.nextAsync(), tag.nextAsync(), tag.takeAsync(5));
            served.await();
            Core.checkpointRestore(() -> {});
            restored.countDown();
            for (CompletableFuture<?> call : calls) refused("closed", () -> Support.join(call));
        } finally {
            restored.countDown();
            end.run();
            callbacks.shutdown();
        }
    }
}
