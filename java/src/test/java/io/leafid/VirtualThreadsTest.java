package io.leafid;

import static io.leafid.Support.in;
import static io.leafid.Support.refused;
import static io.leafid.Support.unique;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import simulated.crac.Core;

/** With two carriers, as make says. */
@EnabledForJreRange(min = JRE.JAVA_21)
class VirtualThreadsTest {
    private static final int COUNT = 10_000;

    @TempDir
    Path dir;

    private static ExecutorService threads() throws ReflectiveOperationException {
        // The tests are compiled by JDK 17, too.
        Method made = Executors.class.getMethod("newVirtualThreadPerTaskExecutor");
        return (ExecutorService) made.invoke(null);
    }

    /** The claim ends when all have called: if a native call waited, most would find no carrier. */
    @Test
    void snowflakesWithoutAPinnedCarrier() throws Exception {
        CountDownLatch called = new CountDownLatch(COUNT);
        AtomicLong turns = new AtomicLong();
        WorkerClaim claim = (name, previous) -> {
            called.await();
            return 1L;
        };
        try (Snowflake ids = Snowflake.builder().stateDir(dir.toString()).worker(claim).lazy(true).timeoutMs(600_000).open()) {
            unique(in(threads(), COUNT, () -> {
                called.countDown();
                long turn = turns.getAndIncrement() % 4;
                if (turn == 0) assertEquals(1, ids.workerId());
                if (turn == 1) assertEquals(1, ids.stats().workerId());
                long[] own = new long[20];
                if (turn == 2) own[0] = ids.next();
                else ids.fill(own);
                System.arraycopy(ids.take(10), 0, own, 0, 10);
                for (int at = 10; at < own.length; at++) own[at] = ids.next();
                return own;
            }));
            int most = ((ThreadPoolExecutor) Threads.WAITS).getLargestPoolSize();
            assertTrue(most < 100, most + " threads waited for one snowflake");
        }
    }

    /** Each copy would have the ids of a call that was served before, and whose thread runs after. */
    @Test
    void aCallWhoseThreadRunsAfterACheckpointIsRefused() throws Exception {
        CountDownLatch answers = new CountDownLatch(1);
        CountDownLatch restored = new CountDownLatch(1);
        WorkerClaim claim = (name, previous) -> {
            answers.await();
            return 1L;
        };
        Fetch fetch = (tag, step, after) -> {
            answers.await();
            return new Segment(after + 1, after + 1 + step);
        };
        ExecutorService threads = threads();
        try (Snowflake ids = Snowflake.builder().stateDir(dir.toString()).worker(claim).lazy(true).timeoutMs(600_000).open();
                Segments segments = Segments.builder().stateDir(dir.toString()).fetch(fetch).timeoutMs(600_000).open()) {
            Tag tag = segments.tag("order");
            List<Callable<Object>> calls = List.of(ids::next, () -> ids.take(5), tag::next, () -> tag.take(5));
            List<Future<Object>> results = new ArrayList<>();
            for (Callable<Object> call : calls) {
                AtomicReference<Thread> thread = new AtomicReference<>();
                results.add(threads.submit(() -> {
                    thread.set(Thread.currentThread());
                    return call.call();
                }));
                while (thread.get() == null || !isWaiting(thread.get())) Thread.sleep(1);
            }
            CompletableFuture<Long> lastId = ids.nextAsync();
            CompletableFuture<Long> lastOfTag = tag.nextAsync();
            // From now on no other virtual thread runs.
            int processors = Runtime.getRuntime().availableProcessors();
            int carriers = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", processors);
            CountDownLatch held = new CountDownLatch(carriers);
            for (int at = 0; at < carriers; at++) threads.execute(() -> {
                held.countDown();
                while (restored.getCount() > 0) Thread.onSpinWait();
            });
            held.await();
            answers.countDown();
            lastId.join();
            lastOfTag.join();
            Core.checkpointRestore(() -> {});
            restored.countDown();
            for (Future<Object> result : results) {
                refused("closed", () -> {
                    try {
                        result.get();
                    } catch (ExecutionException failed) {
                        throw failed.getCause();
                    }
                });
            }
        } finally {
            answers.countDown();
            restored.countDown();
            threads.shutdown();
        }
    }

    private static boolean isWaiting(Thread thread) {
        return thread.getState() == Thread.State.WAITING && Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(Threads.class.getName()) && frame.getMethodName().equals("await"));
    }

    /** All carriers would be held, and the one that answers could not run, if a native call waited. */
    @Test
    void waitsForASourceHoldNoCarrier() throws Exception {
        AtomicLong counter = new AtomicLong(1);
        CountDownLatch waiting = new CountDownLatch(COUNT);
        ExecutorService callbacks = threads();
        Fetch fetch = (tag, step, after) -> {
            waiting.await();
            long start = counter.getAndAdd(step);
            return new Segment(start, start + step);
        };
        try (Segments segments = Segments.builder().stateDir(dir.toString()).fetch(fetch).executor(callbacks)
                .timeoutMs(600_000).open()) {
            Tag tag = segments.tag("order");
            unique(in(threads(), COUNT, () -> {
                waiting.countDown();
                return new long[] {tag.next()};
            }));
        } finally {
            callbacks.shutdown();
        }
    }
}
