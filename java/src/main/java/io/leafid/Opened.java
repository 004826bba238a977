package io.leafid;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongConsumer;

/**
 * What is open. It is closed when the JVM ends in good order, so that a lease is free at once, and for the time of a
 * checkpoint, of which each copy would make the same ids.
 */
abstract class Opened implements AutoCloseable {
    private static final Set<Opened> OPEN = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(Opened::closeAll, "leafid-exit"));
        try {
            Checkpoint.register();
        } catch (LinkageError none) {
            // org.crac is not on the class path: nothing makes checkpoints.
        }
    }

    /** Another one after a checkpoint. */
    volatile long handle;
    /** For the time of a checkpoint. */
    volatile boolean isPaused;
    /** They are freed with the object, because a call may still run with an earlier one. */
    private final Queue<Long> handles = new ConcurrentLinkedQueue<>();

    /** Opens it on the native side; it may wait. */
    abstract long begin();

    /** Closes it on the native side; it may wait. A second call does nothing. */
    abstract void close(long handle);

    /** Opens it for the first time. The native side calls these of the user's objects until all is freed. */
    final void start(LongConsumer free, long... objects) {
        Queue<Long> all = handles;
        Runnable gone = () -> {
            all.forEach(free::accept);
            for (long object : objects) Native.forget(object);
        };
        try {
            resume();
        } catch (Throwable failed) {
            gone.run();
            throw failed;
        }
        Cleanup.register(this, gone);
        OPEN.add(this);
    }

    void resume() {
        long own = Threads.waiting(this::begin);
        handles.add(own);
        handle = own;
        isPaused = false;
    }

    void pause() {
        isPaused = true;
        // The user's objects are kept: a lease that comes later is given back.
        Threads.waiting(() -> close(handle));
    }

    /** Closes it; a second call does nothing. */
    @Override
    public void close() {
        OPEN.remove(this);
        Leafid.closed(this);
        pause();
    }

    /** All that is open now. */
    static List<Opened> all() {
        synchronized (OPEN) {
            return new ArrayList<>(OPEN);
        }
    }

    private static void closeAll() {
        for (Opened each : all()) {
            try {
                each.close();
            } catch (RuntimeException error) {
                Log.write("warn", "not closed in good order: " + error.getMessage());
            }
        }
    }
}
