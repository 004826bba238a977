package io.leafid;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;

/**
 * Calls of a snowflake that found no ids at hand, of virtual threads and of futures. One thread waits on behalf of all. In
 * its turn each call gets ids of one tick, so that a large one does not hold up the others; a wait that ends without an id,
 * after {@code timeoutMs}, fails all.
 */
final class PendingFills {
    private static final class Call {
        /** The handle of the snowflake when the call began: ids of before and after a checkpoint are not mixed. */
        final long of;
        final long[] ids;
        /** How many ids it has. */
        int had;
        final CompletableFuture<long[]> result = new CompletableFuture<>();

        Call(long of, long[] ids, int had) {
            this.of = of;
            this.ids = ids;
            this.had = had;
        }
    }

    private final Snowflake flake;
    private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isServed = new AtomicBoolean();

    PendingFills(Snowflake flake) {
        this.flake = flake;
    }

    /** Fills an array that has some ids already; one without room waits for a lazy claim. */
    CompletableFuture<long[]> add(long of, long[] ids, int had) {
        Call call = new Call(of, ids, had);
        calls.add(call);
        if (isServed.compareAndSet(false, true)) {
            try {
                Threads.WAITS.execute(this::serve);
            } catch (Throwable noThread) {
                isServed.set(false);
                fail(noThread, any -> true);
            }
        }
        return call.result;
    }

    private void serve() {
        do {
            try {
                for (Call call = calls.poll(); call != null; call = calls.poll()) serveOrFail(call);
            } finally {
                // Also for want of memory: the next call starts a thread, which serves those that are left.
                isServed.set(false);
            }
            // One that was added before that line has started no thread.
        } while (!calls.isEmpty() && isServed.compareAndSet(false, true));
    }

    private void serveOrFail(Call call) {
        try {
            serve(call);
        } catch (Throwable failed) {
            call.result.completeExceptionally(failed);
            // They have waited for the same: each on its own would wait as long once more.
            long of = call.of;
            fail(failed, other -> other.of == of);
        }
    }

    private void serve(Call call) {
        // Such as one that is cancelled.
        if (call.result.isDone()) return;
        if (call.ids.length == 0) {
            flake.workerId(call.of);
        } else {
            call.ids[call.had++] = flake.next(call.of);
            call.had += flake.tryFill(call.of, call.ids, call.had);
        }
        if (call.had < call.ids.length) calls.add(call);
        else call.result.complete(call.ids);
    }

    private void fail(Throwable failed, Predicate<Call> which) {
        calls.removeIf(call -> {
            if (!which.test(call)) return false;
            call.result.completeExceptionally(failed);
            return true;
        });
    }
}
