package io.leafid;

import static io.leafid.Support.in;
import static io.leafid.Support.unique;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

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

    @Test
    void snowflakesWithoutAPinnedCarrier() throws Exception {
        try (Snowflake ids = Snowflake.builder().stateDir(dir.toString()).worker(1).timeoutMs(60_000).open()) {
            List<long[]> all = in(threads(), COUNT, () -> {
                long[] own = new long[20];
                for (int at = 0; at < own.length; at++) own[at] = ids.next();
                return own;
            });
            unique(all);
        }
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
