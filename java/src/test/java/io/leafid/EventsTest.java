package io.leafid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What comes from the native side. */
class EventsTest {
    @TempDir
    Path dir;

    /** As one does that writes into a full pipe, or takes an id of leafid for each line. */
    @Test
    void anAppenderThatWaitsForACallHoldsUpNone() throws Exception {
        CountDownLatch isWriting = new CountDownLatch(1);
        CountDownLatch served = new CountDownLatch(1);
        Handler slow = new Handler() {
            @Override
            public void publish(LogRecord line) {
                isWriting.countDown();
                try {
                    served.await();
                } catch (InterruptedException end) {
                    Thread.currentThread().interrupt();
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger("io.leafid");
        logger.addHandler(slow);
        String[] state = {"stateDir", dir.toString()};
        String[] patient = {"timeoutMs", "60000"};
        String[] servers = {"servers", "file:" + dir.resolve("counters")};
        // They log by the JDK.
        try (Support.Classes classes = new Support.Classes();
                AutoCloseable ids = classes.open(Snowflake.class, state, patient, new String[] {"worker", "7"});
                AutoCloseable segments = classes.open(Segments.class, state, patient, servers, new String[] {"create", "true"},
                        new String[] {"tags", "order", "10", "5"})) {
            assertEquals(7, Support.call(ids, "workerId"));
            isWriting.await();
            assertEquals(10L, Support.call(Support.call(segments, "tag", "order"), "next"));
        } finally {
            served.countDown();
            logger.removeHandler(slow);
        }
    }

    @Test
    void afterALostEventEachCallLooksAgain() {
        AtomicInteger looks = new AtomicInteger();
        long[] numbers = {Native.number(), Native.number(), Native.number()};
        Native.waits(numbers[0], looks::incrementAndGet);
        Native.waits(numbers[1], () -> {
            throw new OutOfMemoryError("for a look");
        });
        Native.waits(numbers[2], looks::incrementAndGet);
        try {
            Native.lost(new OutOfMemoryError("for an event"));
            assertEquals(2, looks.get());
        } finally {
            for (long number : numbers) Native.rests(number);
        }
    }

    private Snowflake.Builder claiming(WorkerClaim claim) {
        return Snowflake.builder().stateDir(dir.toString()).worker(claim).timeoutMs(600_000);
    }

    /** As one does that was shut down by shutdownNow. */
    @Test
    void aCallThatItsExecutorDropsIsAnswered() throws Exception {
        CompletableFuture<Snowflake> opening = CompletableFuture.supplyAsync(
                () -> claiming((space, previous) -> 7L).executor(dropped -> {}).open());
        while (!opening.isDone()) {
            System.gc();
            Thread.sleep(1);
        }
        Throwable failed = assertThrows(CompletionException.class, opening::join).getCause();
        assertTrue(failed.getMessage().contains("its executor dropped it"), failed.getMessage());
    }

    @Test
    void anErrorWithoutATextIsAnAnswer() {
        LeafidException failed = assertThrows(LeafidException.class, claiming((space, previous) -> {
            throw new IllegalStateException() {
                @Override
                public String toString() {
                    throw new StackOverflowError();
                }
            };
        })::open);
        assertTrue(failed.getMessage().contains("an error whose text failed, too"), failed.getMessage());
    }
}
