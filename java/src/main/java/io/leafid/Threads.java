package io.leafid;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/** Threads of leafid, for native calls that may wait: a virtual thread would hold its carrier. They end when they rest. */
final class Threads {
    /**
     * Runs native calls that wait: one for each snowflake whose calls wait for ids, and one for each opening and close of a
     * virtual thread. It has no bound of its own: an opening may wait for a function of its user that opens another one.
     */
    static final ExecutorService WAITS = pool("leafid-waits");
    /** Runs the user's objects. */
    static final ExecutorService CALLBACKS = pool("leafid-callbacks");

    /** Since Java 21; null before. */
    private static final MethodHandle IS_VIRTUAL = isVirtualHandle();

    private Threads() {}

    private static ExecutorService pool(String name) {
        ThreadFactory threads = new ThreadFactory() {
            @Override
            public Thread newThread(Runnable work) {
                Thread thread = new Thread(work, name);
                thread.setDaemon(true);
                return thread;
            }
        };
        return new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), threads);
    }

    /** Starts one that lasts. It holds no class loader of a program's. */
    static Thread daemon(Thread thread) {
        thread.setDaemon(true);
        thread.setContextClassLoader(null);
        thread.start();
        return thread;
    }

    private static MethodHandle isVirtualHandle() {
        try {
            return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException before21) {
            return null;
        }
    }

    static boolean isVirtual() {
        if (IS_VIRTUAL == null) return false;
        try {
            return (boolean) IS_VIRTUAL.invokeExact(Thread.currentThread());
        } catch (Throwable impossible) {
            return false;
        }
    }

    /** The result of a native call that may wait. */
    static <T> T waiting(Supplier<T> call) {
        return isVirtual() ? await(CompletableFuture.supplyAsync(call, WAITS)) : call.get();
    }

    static void waiting(Runnable call) {
        waiting(() -> {
            call.run();
            return null;
        });
    }

    /** What users attach to a future runs on other threads than those on which the others wait. */
    static <T> CompletableFuture<T> handedOver(CompletableFuture<long[]> pending, Function<long[], T> result) {
        CompletableFuture<T> given = pending.thenApplyAsync(result, CALLBACKS);
        given.whenComplete((ids, failed) -> pending.cancel(false));
        return given;
    }

    /** Waits for a result, whose failure is thrown with the stack of this thread. */
    static <T> T await(CompletableFuture<T> future) {
        try {
            return future.join();
        } catch (CompletionException failed) {
            Throwable cause = failed.getCause();
            if (cause instanceof LeafidException) throw new LeafidException((LeafidException) cause);
            if (cause instanceof Error) throw (Error) cause;
            throw failed;
        }
    }
}
