package io.leafid;

import static io.leafid.Support.inThreads;
import static io.leafid.Support.refused;
import static io.leafid.Support.unique;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.leafid.tinyid.TinyId;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

class SnowflakeTest {
    @TempDir
    Path dir;

    private Snowflake.Builder options() {
        return Snowflake.builder().stateDir(dir.toString()).worker(7).timeoutMs(60_000);
    }

    /** Leases one worker id, to everybody. */
    private static class Six implements WorkerLeases {
        @Override
        public Lease claim(ClaimRequest request) throws Exception {
            return new Lease(6, request.nowMs(), request.untilMs(), null, "secret");
        }

        @Override
        public Renewal renew(Lease lease, long untilMs) {
            return new Renewal(untilMs);
        }

        @Override
        public void release(Lease lease, long untilMs) {}
    }

    private static long[] ids(Snowflake ids, int count) {
        long[] taken = new long[count];
        for (int at = 0; at < count; at++) taken[at] = ids.next();
        return taken;
    }

    @Test
    void idsAreUniqueAndIncreaseInThreads() throws Exception {
        try (Snowflake ids = options().open()) {
            unique(inThreads(4, () -> ids(ids, 100_000)));
            Parts parts = ids.layout().decode(ids.next());
            assertEquals(7, parts.workerId());
            assertEquals(7, ids.workerId());
            assertTrue(Math.abs(parts.timestampMs() - System.currentTimeMillis()) < 600_000);
            assertTrue(ids.stats().ids() >= 400_001);
            assertEquals("Snowflake(worker_id=7)", ids.toString());
        }
    }

    @Test
    void takesMany() {
        try (Snowflake ids = options().open()) {
            List<long[]> lists = new ArrayList<>();
            long[] all = new long[20_001];
            all[0] = ids.next();
            System.arraycopy(ids.take(20_000), 0, all, 1, 20_000);
            lists.add(all);
            unique(lists);
            assertEquals(0, ids.take(0).length);
            for (int n : new int[] {-1, 16_777_217, Integer.MAX_VALUE}) {
                says("n is " + n + "; allowed: 0 to 16777216 ids a call", () -> ids.take(n));
            }
        }
    }

    @Test
    void asynchronousCallsAreServed() {
        try (Snowflake ids = options().open()) {
            Set<Long> all = new HashSet<>();
            List<CompletableFuture<Long>> waiting = new ArrayList<>();
            for (int at = 0; at < 20_000; at++) waiting.add(ids.nextAsync());
            for (CompletableFuture<Long> one : waiting) all.add(one.join());
            assertEquals(20_000, all.size());
        }
    }

    /** What a user attaches runs on none of the threads on which other calls wait. */
    @Test
    void whatFollowsACallMayWaitForAnotherOne() {
        CountDownLatch attached = new CountDownLatch(1);
        WorkerClaim claim = (name, previous) -> {
            attached.await();
            return 3L;
        };
        try (Snowflake ids = options().worker(claim).lazy(true).open()) {
            CompletableFuture<Long> one = ids.nextAsync();
            CompletableFuture<Long> other = ids.nextAsync();
            CompletableFuture<Boolean> first = one.thenApply(id -> id < other.join());
            CompletableFuture<Boolean> second = other.thenApply(id -> id > one.join());
            attached.countDown();
            assertTrue(first.join() && second.join());
        }
    }

    @Test
    void aCallThatGetsNoThreadFailsAndTheNextOneIsServed() throws Exception {
        ThreadFactory none = work -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        try (Snowflake ids = options().lazy(true).open()) {
            Runnable end = Support.threads(Threads.WAITS, none);
            try {
                CompletableFuture<Long> failed = ids.nextAsync();
                assertThrows(OutOfMemoryError.class, () -> Support.join(failed));
            } finally {
                end.run();
            }
            assertEquals(7, ids.layout().decode(ids.nextAsync().join()).workerId());
        }
    }

    @Test
    void closedOnesIssueNothing() {
        Snowflake ids = options().open();
        ids.close();
        ids.close();
        refused("closed", ids::next);
        refused("closed", () -> ids.take(1));
        refused("closed", () -> ids.take(0));
        refused("closed", () -> ids.fill(new long[0]));
        refused("closed", ids::workerId);
        assertEquals("Snowflake(closed)", ids.toString());
    }

    @Test
    void refusalsSayWhatWasWrongByJavasNames() {
        LeafidException error = refused("invalid_argument", () -> options().worker(1024).open());
        assertTrue(error.getMessage().startsWith("worker is \"1024\""), error.getMessage());
        error = refused("invalid_argument", () -> options().maxBackwardsMs(-1).open());
        assertTrue(error.getMessage().startsWith("maxBackwardsMs is -1"), error.getMessage());
        error = refused("invalid_argument", () -> options().option("timeoutMS", "5").open());
        assertTrue(error.getMessage().contains("timeoutMs"), error.getMessage());
        error = refused("invalid_argument", () -> options().token("sesame").open());
        assertTrue(!error.getMessage().contains("sesame"), error.getMessage());
    }

    /** A text that is left out would give its place to the next one: a header would have the name of another. */
    @Test
    void listsWithANullOrOfAnotherLengthAreRefused() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("X-App", null);
        headers.put("X-Key", "sesame");
        headers.put("X-Zone", "a");
        says("headers is null at place 2 of 6; allowed: ", () -> options().headers(headers).open());
        says("headers is an odd number of values, 3; allowed: ", () -> options().option("headers", "X-App", "shop", "sesame").open());
        says("headers is an odd number of values, 1; allowed: ", () -> options().option("headers", "sesame").open());
        says("timeoutMs is 2 values; allowed: ", () -> options().option("timeoutMs", "5", "7").open());
        says("token is 2 values; allowed: ", () -> options().option("token", "sesame", "other").open());
        says("name is 0 values; allowed: ", () -> options().option("name").open());
        says("worker is null at place 2 of 2; allowed: ", () -> options().worker(Arrays.asList("http://ids-1", null)).open());
        says("\"null\" is an unknown option; allowed: ", () -> options().option(null, "x").open());
        // An option that is null is not set.
        try (Snowflake ids = options().option("name", (String) null).headers(null).open()) {
            assertEquals("default", ids.stats().name());
        }
    }

    private static void says(String said, Executable call) {
        String message = refused("invalid_argument", call).getMessage();
        assertTrue(message.startsWith(said), message);
        assertFalse(message.contains("sesame"), message);
    }

    @Test
    void theSecondOfARangeGetsAnotherWorkerId() {
        Layout layout = Layout.of("41|10|12").withEpochMs(1_577_836_800_000L);
        try (Snowflake one = options().worker(8, 9).exclusiveRange(true).open();
                Snowflake same = options().worker(8, 9).exclusiveRange(true).open()) {
            assertEquals(one.workerId(), same.workerId(), "the same settings are one generator");
            refused("worker_in_use", () -> options().worker(one.workerId()).layout(layout).open());
        }
        // Closed, it is free.
        try (Snowflake other = options().worker(8).open()) {
            assertEquals(8, other.workerId());
        }
    }

    @Test
    void oneThatWasForgottenIsClosed() throws Exception {
        open(5);
        while (true) {
            System.gc();
            try (Snowflake again = options().worker(5).maxBackwardsMs(6_000).open()) {
                assertEquals(5, again.workerId());
                return;
            } catch (LeafidException held) {
                assertEquals("worker_in_use", held.code());
                Thread.sleep(20);
            }
        }
    }

    private void open(long worker) {
        options().worker(worker).open().next();
    }

    @Test
    void aFunctionGivesTheWorkerId() {
        AtomicReference<ClassLoader> seen = new AtomicReference<>();
        ClassLoader mine = new URLClassLoader(new URL[0], getClass().getClassLoader());
        Thread.currentThread().setContextClassLoader(mine);
        WorkerClaim claim = (name, previous) -> {
            seen.set(Thread.currentThread().getContextClassLoader());
            return 3L;
        };
        try (Snowflake ids = options().worker(claim).open()) {
            assertEquals(3, ids.workerId());
            assertEquals(mine, seen.get());
        } finally {
            Thread.currentThread().setContextClassLoader(getClass().getClassLoader());
        }
        refused("worker_in_use", () -> options().worker((name, previous) -> null).open());
        refused("clock_backwards", () -> options().worker((name, previous) -> {
            throw new LeafidException("clock_backwards", null);
        }).open());
        LeafidException error = refused("worker_lost", () -> options().worker((name, previous) -> {
            throw new IllegalStateException("no table");
        }).open());
        assertTrue(error.getMessage().contains("no table"), error.getMessage());
    }

    @Test
    void ofAllSourcesOfTheWorkerIdTheLastOneCounts() {
        WorkerClaim claim = (name, previous) -> 3L;
        WorkerLeases leases = new Six();
        held(3, options().worker(leases).worker(claim));
        held(6, options().worker(claim).worker(leases));
        held(9, options().worker(claim).worker(9));
        held(10, options().worker(leases).option("worker", "10"));
    }

    private static void held(int workerId, Snowflake.Builder options) {
        try (Snowflake ids = options.open()) {
            assertEquals(workerId, ids.workerId());
        }
    }

    @Test
    void aCallbackThatOverflowsItsStackIsAnError() {
        WorkerClaim claim = new WorkerClaim() {
            @Override
            public Long claim(String name, Long previous) throws Exception {
                return claim(name, previous) + 1;
            }
        };
        LeafidException error = refused("worker_lost", () -> options().worker(claim).open());
        assertTrue(error.getMessage().contains("StackOverflowError"), error.getMessage());
    }

    @Test
    void anExecutorThatGetsNoThreadIsAnError() {
        Executor none = work -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        LeafidException error = refused("worker_lost", () -> options().worker((name, previous) -> 3L).executor(none).open());
        assertTrue(error.getMessage().contains("unable to create native thread"), error.getMessage());
    }

    /** Its opening has failed by then, and no object of Java is left that held it. */
    @Test
    void aLeaseThatComesLateIsGivenBack() throws Exception {
        CountDownLatch failed = new CountDownLatch(1);
        CompletableFuture<String> released = new CompletableFuture<>();
        WorkerLeases slow = new Six() {
            @Override
            public Lease claim(ClaimRequest request) throws Exception {
                failed.await();
                return super.claim(request);
            }

            @Override
            public void release(Lease lease, long untilMs) {
                released.complete(lease.workerId() + " " + lease.token());
            }
        };
        LeafidException error = refused("worker_lost", () -> options().worker(slow).timeoutMs(2_000).open());
        assertTrue(error.getMessage().contains("within timeoutMs (2000); see what it waits for"), error.getMessage());
        failed.countDown();
        assertEquals("6 secret", released.join());
    }

    @Test
    void leasesAreClaimedAndReleased() {
        List<String> calls = new ArrayList<>();
        WorkerLeases leases = new Six() {
            @Override
            public Lease claim(ClaimRequest request) throws Exception {
                calls.add("claim " + request.name() + " " + request.previous() + " " + request.instance().length());
                return super.claim(request);
            }

            @Override
            public void release(Lease lease, long untilMs) {
                calls.add("release " + lease.workerId() + " " + lease.token());
            }
        };
        try (Snowflake ids = options().worker(leases).name("orders").open()) {
            assertEquals(6, ids.layout().decode(ids.next()).workerId());
            assertTrue(ids.stats().leaseUntilMs() > 0);
        }
        assertEquals(List.of("claim orders null 32", "release 6 secret"), calls);
    }

    @Test
    void theOneThatTheProgramUsesIsOfOneSpace() {
        Snowflake users = options().name("users").worker(3).open();
        try (Snowflake orders = options().name("orders").worker(3).open()) {
            Leafid.use(orders);
            assertEquals(orders, Leafid.snowflake());
            Leafid.use(users);
            IllegalStateException error = assertThrows(IllegalStateException.class, Leafid::snowflake);
            assertTrue(error.getMessage().contains("orders") && error.getMessage().contains("users"), error.getMessage());
            users.close();
            Leafid.use(users);
            assertEquals(orders, Leafid.snowflake());
        } finally {
            users.close();
        }
    }

    /** Their spaces are known without a claim, for each id anew. */
    @Test
    void lazyOnesInUseClaimNothing() {
        try (Snowflake one = options().name("lazy").lazy(true).open(); Snowflake other = options().name("lazy").lazy(true).open()) {
            Leafid.use(one);
            Leafid.use(other);
            assertEquals(other, Leafid.snowflake());
            assertEquals("Snowflake(unclaimed)", other.toString());
        }
    }

    /** Another context's entities would get ids of it, which is closed. */
    @Test
    void oneThatIsBeingClosedIsNotInUse() {
        AtomicReference<Snowflake> used = new AtomicReference<>();
        WorkerLeases leases = new Six() {
            @Override
            public void release(Lease lease, long untilMs) {
                used.set(Leafid.snowflake());
            }
        };
        try (Snowflake other = options().open()) {
            Leafid.use(other);
            Snowflake leased = options().worker(leases).open();
            Leafid.use(leased);
            assertEquals(leased, Leafid.snowflake());
            leased.close();
            assertEquals(other, used.get());
        }
    }

    /** A monitor holds the carrier of a virtual thread on JDK 21 to 23. */
    @Test
    void whatOpensTheOneInUseHoldsNoMonitor() {
        for (Class<?> opens : new Class<?>[] {Leafid.class, TinyId.class, Opened.class, Segments.class, Snowflake.class}) {
            for (Method method : opens.getDeclaredMethods()) {
                assertFalse(Modifier.isSynchronized(method.getModifiers()), method.toString());
            }
        }
    }

    /** A web application has classes of its own, and so a library of its own. */
    @Test
    void twoClassLoadersHaveTwoWorkerIds() {
        try (Snowflake ours = options().worker(20, 21).exclusiveRange(true).open(); Support.Copy other = new Support.Copy(dir, "20-21")) {
            assertEquals(41, ours.workerId() + other.workerId());
        }
    }
}
