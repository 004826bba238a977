package io.leafid;

import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.LongStream;

/**
 * A counter. Its ids increase over all threads, except for ids that were put back, which are issued later: those that a
 * call had when it failed or was cancelled, and those that a close kept ({@code keepUnused}). Ids of a source that gives
 * them in no order are issued as they come.
 */
public final class Tag {
    /** Beyond the end of every run, however many threads count on from it. */
    private static final long SEALED = Long.MAX_VALUE / 2;
    /** In place of a time-out: that of the options. */
    private static final long OF_OPTIONS = -1;

    /** Ids that were taken from memory, and are issued one by one: the value is how many were. */
    private static final class Run extends AtomicLong {
        private static final long serialVersionUID = 1;
        final long first;
        final long stride;
        final long count;

        Run(long first, long stride, long count, long issued) {
            super(issued);
            this.first = first;
            this.stride = stride;
            this.count = count;
        }

        long id(long at) {
            return first + at * stride;
        }
    }

    /** It is held, so that it is not freed while a tag is used. */
    private final Segments owner;
    private final String name;
    /** Another one after a checkpoint. */
    private volatile long handle;
    private final ReentrantLock lock = new ReentrantLock();
    private final long[] out = new long[3];
    private volatile Run run = new Run(0, 1, 0, SEALED);
    private volatile boolean closed;

    Tag(Segments owner, String name, long handle) {
        this.owner = owner;
        this.name = name;
        this.handle = handle;
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /**
     * Issues one id. If none is in memory it waits for the source, at most {@code timeoutMs} of the options.
     *
     * @throws LeafidException {@code unknown_tag} and {@code closed}, at once; after {@code timeoutMs} that of the last fetch:
     *     {@code segment_unavailable}, {@code segment_regressed}, {@code source_invalid}, {@code state_io},
     *     {@code state_corrupt}, {@code state_mismatch}, {@code invalid_argument}
     */
    public long next() {
        Run run = this.run;
        long at = run.getAndIncrement();
        return at < run.count ? run.id(at) : nextSlowly(OF_OPTIONS);
    }

    /** The same, with another longest wait, 1 to 3,600,000 milliseconds; others are {@code invalid_argument}. */
    public long next(long timeoutMs) {
        Native.checkTimeoutMs(timeoutMs);
        Run run = this.run;
        long at = run.getAndIncrement();
        return at < run.count ? run.id(at) : nextSlowly(timeoutMs);
    }

    /** An id that is in memory; none otherwise, and then a range is fetched. */
    public OptionalLong tryNext() {
        lock.lock();
        try {
            long id = fromMemory();
            return id < 0 ? OptionalLong.empty() : OptionalLong.of(id);
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #next()}, without a wait of this thread. */
    public CompletableFuture<Long> nextAsync() {
        lock.lock();
        try {
            long id = fromMemory();
            if (id >= 0) return CompletableFuture.completedFuture(id);
            return handedOver(pending(new long[1], 0, OF_OPTIONS), handle, ids -> ids[0]);
        } catch (LeafidException error) {
            return failed(error);
        } finally {
            lock.unlock();
        }
    }

    private static <T> CompletableFuture<T> failed(LeafidException error) {
        CompletableFuture<T> failed = new CompletableFuture<>();
        failed.completeExceptionally(error);
        return failed;
    }

    private long nextSlowly(long timeoutMs) {
        CompletableFuture<long[]> pending;
        long of;
        lock.lock();
        try {
            long id = fromMemory();
            if (id >= 0) return id;
            of = handle;
            pending = pending(new long[1], 0, timeoutMs);
        } finally {
            lock.unlock();
        }
        return await(pending, of)[0];
    }

    /** Waits for ids of this handle. A checkpoint may come while this thread does not run: each of its copies has them. */
    private long[] await(CompletableFuture<long[]> pending, long of) {
        long[] ids = Threads.await(pending);
        requireOpen(of);
        return ids;
    }

    /** With the lock: an id of the run, or of the next run; -1 if none is in memory. */
    private long fromMemory() {
        Run run = this.run;
        long at = run.getAndIncrement();
        if (at < run.count) return run.id(at);
        if (closed || run(handle, out, 1) == 0) return -1;
        // All ids of the last one were issued, so these are larger.
        if (out[2] > 1) this.run = new Run(out[0], out[1], out[2], 1);
        return out[0];
    }

    /**
     * Issues {@code n} ids, 0 to 16,777,216, in order, perhaps of several ranges.
     *
     * @throws LeafidException as {@link #next()}, and {@code invalid_argument} for {@code n}; then none is issued, and those
     *     that it had are put back
     */
    public long[] take(int n) {
        return taken(n, OF_OPTIONS);
    }

    /** The same, with another longest wait for each range, as of {@link #next(long)}. */
    public long[] take(int n, long timeoutMs) {
        Native.checkTimeoutMs(timeoutMs);
        return taken(n, timeoutMs);
    }

    private long[] taken(int n, long timeoutMs) {
        long of = handle;
        return await(many(n, timeoutMs), of);
    }

    /** Fills an array with ids, as {@link #take}. */
    public void fill(long[] ids) {
        System.arraycopy(take(ids.length), 0, ids, 0, ids.length);
    }

    /** As {@link #take}, without a wait of this thread. */
    public CompletableFuture<long[]> takeAsync(int n) {
        return takenAsync(n, OF_OPTIONS);
    }

    /**
     * The same, with another longest wait for each range, as of {@link #next(long)}. A cancel puts back the ids that the
     * call had. If it comes while they are handed over, they are a gap.
     */
    public CompletableFuture<long[]> takeAsync(int n, long timeoutMs) {
        Native.checkTimeoutMs(timeoutMs);
        return takenAsync(n, timeoutMs);
    }

    private CompletableFuture<long[]> takenAsync(int n, long timeoutMs) {
        long of = handle;
        return handedOver(many(n, timeoutMs), of, ids -> ids);
    }

    /** A checkpoint may come before it is handed over, too. */
    private <T> CompletableFuture<T> handedOver(CompletableFuture<long[]> pending, long of, Function<long[], T> result) {
        return Threads.handedOver(pending, ids -> {
            requireOpen(of);
            return result.apply(ids);
        });
    }

    /** Those of the run first, because they are the smallest; if it has none, those of the next run. */
    private CompletableFuture<long[]> many(int n, long timeoutMs) {
        Native.checkCount(n);
        lock.lock();
        try {
            long[] ids = new long[n];
            int held = n == 0 ? 0 : takeFromRun(ids);
            try {
                if (n > 0 && held == 0 && nextRun(n)) held = takeFromRun(ids);
            } catch (LeafidException refused) {
                return failed(refused);
            }
            if (n > 0 && held == n) return CompletableFuture.completedFuture(ids);
            return pending(ids, held, timeoutMs);
        } finally {
            lock.unlock();
        }
    }

    /** With the lock: whether there is a next run in memory. */
    private boolean nextRun(long need) {
        if (closed || run(handle, out, need) == 0) return false;
        run = new Run(out[0], out[1], out[2], 0);
        return true;
    }

    /** With the lock: how many ids of the run it has put into the front of an array. */
    private int takeFromRun(long[] ids) {
        Run run = this.run;
        // From now on no other thread issues any of them.
        long at = Math.min(run.getAndSet(SEALED), run.count);
        int held = (int) Math.min(run.count - at, ids.length);
        for (int i = 0; i < held; i++) ids[i] = run.id(at + i);
        if (at + held < run.count) this.run = new Run(run.first, run.stride, run.count, at + held);
        return held;
    }

    /** Ids without an end. */
    public LongStream stream() {
        return LongStream.generate(this::next);
    }

    /** The statistics of the tag. */
    public TagStats stats() {
        lock.lock();
        try {
            Run run = this.run;
            long at = run.get();
            Segment rest = at < run.count ? new Segment(run.id(at), run.id(run.count - 1) + 1, run.stride) : null;
            return new TagStats(stats(handle), rest, run.count - at);
        } finally {
            lock.unlock();
        }
    }

    /**
     * With the lock, so that no run is taken before this call has its ids, or its place before all later ones: the ids of
     * a thread that takes from both would not increase. The last of the run are held: the call begins with them, and puts
     * them back with its others, in order.
     */
    private CompletableFuture<long[]> pending(long[] ids, int held, long timeoutMs) {
        long call = begin(handle, ids.length, timeoutMs, held == 0 ? 0 : ids[0], held);
        return PendingIds.of(this, handle, call, ids);
    }

    /** Fails if it was closed since it had this handle. */
    void requireOpen(long of) {
        if (closed || handle != of) throw new LeafidException("closed", "the segments were closed during the call", false);
    }

    /** No id of the run is issued from now on. */
    void seal() {
        lock.lock();
        try {
            closed = true;
            Run run = this.run;
            long at = run.getAndSet(SEALED);
            if (at < run.count) putBack(handle, run.id(at), run.count - at);
        } finally {
            lock.unlock();
        }
    }

    /** After {@link #seal}, of segments that were opened once more. */
    void resume(long handle) {
        lock.lock();
        try {
            this.handle = handle;
            closed = false;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "Tag(" + name + " of " + owner + ")";
    }

    private native long run(long handle, long[] out, long need);

    private native void putBack(long handle, long first, long count);

    private native long begin(long handle, long n, long timeoutMs, long first, long held);

    private native String[] stats(long handle);
}
