package io.leafid;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * What is open. It is closed when the JVM ends in good order, so that a lease is free at once, and for the time of a
 * checkpoint, of which each copy would make the same ids.
 *
 * <p>What runs before a first id has loops and classes in place of lambdas: in a new JVM each lambda takes a millisecond, and
 * the first one six.
 */
abstract class Opened implements AutoCloseable {
    private static final Set<Opened> OPEN = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    /** Of objects that are gone, too, until it is freed. */
    private static final Set<Handle> HANDLES = ConcurrentHashMap.newKeySet();
    /** Openings share it; who begins or ends a checkpoint has it alone. */
    private static final ReentrantReadWriteLock OPENINGS = new ReentrantReadWriteLock();
    private static boolean isCheckpoint;

    static {
        Runtime.getRuntime().addShutdownHook(new Thread("leafid-exit") {
            @Override
            public void run() {
                closeAll();
            }
        });
        try {
            Checkpoint.register();
        } catch (NoClassDefFoundError none) {
            // org.crac is not on the class path: nothing makes checkpoints.
        }
    }

    /** How the native side ends a handle: it closes it, which may wait and does nothing the second time, and frees it. */
    interface Ends {
        void close(long handle);

        void free(long handle);
    }

    /** What it is on the native side. A call may still use it after the close, so it is freed with its object. */
    private static final class Handle {
        final long value;
        private final Ends ends;
        private final Lock lock = new ReentrantLock();
        private boolean isFreed;

        Handle(long value, Ends ends) {
            this.value = value;
            this.ends = ends;
            HANDLES.add(this);
        }

        void close() {
            lock.lock();
            try {
                if (!isFreed) ends.close(value);
            } finally {
                lock.unlock();
            }
        }

        void free() {
            lock.lock();
            try {
                if (isFreed) return;
                isFreed = true;
                ends.free(value);
            } finally {
                lock.unlock();
                HANDLES.remove(this);
            }
        }
    }

    /** Frees what is gone. It holds no reference to it. */
    private static final class Gone implements Runnable {
        final Queue<Handle> handles = new ConcurrentLinkedQueue<>();

        @Override
        public void run() {
            for (Handle each : handles) each.free();
        }
    }

    /** That of the last handle: another one after a checkpoint. */
    volatile long handle;
    /** Who opens or closes it has this. */
    final ReentrantLock changes = new ReentrantLock();
    private final Gone gone = new Gone();
    private final Ends ends;
    private Handle last;
    private volatile boolean isPaused = true;
    private volatile boolean isClosed;

    Opened(Ends ends) {
        this.ends = ends;
    }

    /** Opens it on the native side; it may wait. */
    abstract long begin();

    /** Where its ids are unique: two of one space may serve one column. It asks nothing that may wait, or be closed. */
    abstract String space();

    /** Opens it for the first time. */
    final void start() {
        OPENINGS.readLock().lock();
        try {
            if (isCheckpoint) throw new LeafidException("closed", "a checkpoint is being made: open after it", true);
            resume();
            Cleanup.register(this, gone);
            OPEN.add(this);
        } catch (Throwable failed) {
            gone.run();
            throw failed;
        } finally {
            OPENINGS.readLock().unlock();
        }
    }

    /** Opens it, unless it is open, or its user has closed it meanwhile. */
    void resume() {
        changes.lock();
        try {
            if (isClosed || !isPaused) return;
            last = new Handle(Threads.isVirtual() ? Threads.waiting(this::begin) : begin(), ends);
            gone.handles.add(last);
            handle = last.value;
            isPaused = false;
        } finally {
            changes.unlock();
        }
    }

    /** Closes it until it is resumed. */
    void pause() {
        changes.lock();
        try {
            isPaused = true;
            Threads.waiting(last::close);
        } finally {
            changes.unlock();
        }
    }

    /** Closes it; a second call does nothing. */
    @Override
    public void close() {
        changes.lock();
        try {
            isClosed = true;
            // First: the close may wait for a release, and whoever asks for one in use meanwhile would get this one.
            Leafid.closed(this);
            pause();
        } finally {
            changes.unlock();
            OPEN.remove(this);
        }
    }

    /** Fails if it was closed since it had this handle. */
    final void requireOpen(long of) {
        if (isPaused || handle != of) throw new LeafidException("closed", "it was closed during the call", false);
    }

    final boolean isClosed() {
        return isClosed;
    }

    /** Whether a checkpoint has closed it. */
    final boolean isPaused() {
        return isPaused;
    }

    private static List<Opened> all() {
        synchronized (OPEN) {
            return new ArrayList<>(OPEN);
        }
    }

    private static void setCheckpoint(boolean is) {
        OPENINGS.writeLock().lock();
        isCheckpoint = is;
        OPENINGS.writeLock().unlock();
    }

    /** Nothing is open then, and nothing can be opened. */
    static void beforeCheckpoint() {
        setCheckpoint(true);
        List<Runnable> work = new ArrayList<>();
        for (Opened each : all()) work.add(each::pause);
        // One that nothing uses any more and that is not freed yet would be found by the next opening with its settings.
        for (Handle each : HANDLES) work.add(() -> Threads.waiting(each::close));
        work.add(Opened::forgetUnansweredClaims);
        tryAll(work);
    }

    /** Each copy would send them once more, and get the one lease that answers them. */
    private static void forgetUnansweredClaims() {
        try {
            Native.forgetUnansweredClaims();
        } catch (LinkageError error) {
            // The library could not be loaded: nothing was claimed.
        }
    }

    /** Opens again what was open. */
    static void afterCheckpoint() {
        setCheckpoint(false);
        List<Runnable> work = new ArrayList<>();
        for (Opened each : all()) work.add(each::resume);
        tryAll(work);
    }

    /** Each is tried, and then the first failure thrown. */
    private static void tryAll(List<Runnable> work) {
        RuntimeException failed = null;
        for (Runnable each : work) {
            try {
                each.run();
            } catch (RuntimeException error) {
                if (failed == null) failed = error;
                else if (failed != error) failed.addSuppressed(error);
            }
        }
        if (failed != null) throw failed;
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
