package io.leafid;

import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;

/**
 * A generator of unique 64-bit ids: time, worker id and sequence. It claims a worker id in a state directory, or leases one,
 * and makes ids from memory, from any number of threads. They are unique across threads, processes, crashes, restarts and
 * clock changes.
 *
 * <pre>{@code
 * try (Snowflake ids = Snowflake.builder().worker("0-31").open()) {
 *     long id = ids.next();
 * }
 * }</pre>
 */
public final class Snowflake extends Opened {
    private static final Ends ENDS = new Ends() {
        @Override
        public void close(long handle) {
            Snowflake.close(handle);
        }

        @Override
        public void free(long handle) {
            Snowflake.free(handle);
        }
    };

    private final String[][] rows;
    private final UserObject workers;
    private final boolean leases;
    private final UserObject peers;
    private final Layout layout;
    private final String space;
    private final PendingFills pending = new PendingFills(this);

    private Snowflake(Builder options) {
        super(ENDS);
        rows = options.rows();
        workers = options.workers();
        leases = options.leases;
        peers = options.peers();
        start();
        long[] fields = new long[Layout.FIELDS];
        layout(handle, fields);
        layout = new Layout(fields);
        space = "the name " + name(handle) + ", " + layout;
    }

    @Override
    long begin() {
        return open(rows, Native.keep(workers), leases, Native.keep(peers));
    }

    @Override
    String space() {
        return space;
    }

    /** The options of a snowflake; see docs/OPTIONS.md. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Opens a snowflake by the environment, such as {@code LEAFID_WORKER=0-31}.
     *
     * @throws LeafidException as {@link Builder#open}
     */
    public static Snowflake open() {
        return builder().open();
    }

    /**
     * Issues one id. It is larger than every earlier id of this generator. When a tick is used up, it waits for the next
     * one, at most {@code timeoutMs}.
     *
     * @throws LeafidException {@code closed}, {@code clock_backwards}, {@code before_epoch}, {@code time_exhausted},
     *     {@code state_io}, {@code worker_lost}, {@code would_block}; in the first call of a lazy generator, and where a lost
     *     lease cannot be claimed again, also as {@link Builder#open}
     */
    public long next() {
        long id = tryNext(handle);
        return id >= 0 ? id : nextSlowly();
    }

    private long nextSlowly() {
        long of = handle;
        return Threads.isVirtual() ? await(pending.add(of, new long[1], 0), of)[0] : next(of);
    }

    /** The same, without a wait of this thread. */
    public CompletableFuture<Long> nextAsync() {
        long of = handle;
        long id = tryNext(of);
        if (id >= 0) return CompletableFuture.completedFuture(id);
        return Threads.handedOver(pending.add(of, new long[1], 0), ids -> {
            requireOpen(of);
            return ids[0];
        });
    }

    /**
     * Issues {@code n} ids, 0 to 16,777,216, in ascending order.
     *
     * @throws LeafidException as {@link #next}, and {@code invalid_argument} for {@code n}; then none is issued
     */
    public long[] take(int n) {
        Native.checkCount(n);
        long[] ids = new long[n];
        long of = handle;
        if (!Threads.isVirtual()) {
            filled(of, ids);
            return ids;
        }
        int had = n == 0 ? 0 : tryFill(of, ids, 0);
        if (had < n) return await(pending.add(of, ids, had), of);
        requireOpen(of);
        return ids;
    }

    /** Fills an array with ids, as {@link #take}. If it was closed meanwhile, what is in the array is no id. */
    public void fill(long[] ids) {
        if (Threads.isVirtual()) System.arraycopy(take(ids.length), 0, ids, 0, ids.length);
        else filled(handle, ids);
    }

    /** A large array takes a while. A checkpoint may come meanwhile: each of its copies has the ids. */
    private void filled(long of, long[] ids) {
        if (ids.length > 0) fill(of, ids);
        requireOpen(of);
    }

    /** Waits for ids of this handle. A checkpoint may come while this thread does not run: each of its copies has them. */
    private long[] await(CompletableFuture<long[]> result, long of) {
        long[] ids = Threads.await(result);
        requireOpen(of);
        return ids;
    }

    /** Waits for a lazy claim, where the next call of a virtual thread would. */
    private long claimed() {
        long of = handle;
        if (Threads.isVirtual() && isUnclaimed(of)) Threads.await(pending.add(of, new long[0], 0));
        return of;
    }

    /** Ids without an end. */
    public LongStream stream() {
        return LongStream.generate(this::next);
    }

    /** The worker id that is held. */
    public int workerId() {
        return workerId(claimed());
    }

    /** The layout of the ids. */
    public Layout layout() {
        return layout;
    }

    /** The statistics of the generator. */
    public SnowflakeStats stats() {
        return new SnowflakeStats(stats(claimed()));
    }

    /**
     * Closes this handle; a second call does nothing. The last handle of the generator releases the worker id.
     *
     * @throws LeafidException {@code state_io}, {@code worker_lost}; it is closed all the same
     */
    @Override
    public void close() {
        super.close();
    }

    @Override
    public String toString() {
        return "Snowflake(" + held(handle) + ")";
    }

    private static native long open(String[][] options, long workers, boolean leases, long peers);

    private static native void free(long handle);

    private native long tryNext(long handle);

    native long next(long handle);

    private native void fill(long handle, long[] out);

    native int tryFill(long handle, long[] out, int from);

    private native boolean isUnclaimed(long handle);

    native int workerId(long handle);

    private native void layout(long handle, long[] out);

    private native String[] stats(long handle);

    private native String held(long handle);

    private native String name(long handle);

    private static native void close(long handle);

    /** The options of a snowflake. */
    public static final class Builder extends Options<Builder> {
        /** In place of the option. */
        private UserObject.Call workers;
        private boolean leases;
        private PeerTimes peerTimes;

        private Builder() {
            Native.load();
        }

        @Override
        public Builder option(String name, String... values) {
            if ("worker".equals(name)) workers = null;
            return super.option(name, values);
        }

        private Builder workers(boolean lease, UserObject.Call call) {
            option("worker", (String) null);
            leases = lease;
            workers = call;
            return this;
        }

        /**
         * {@code "7"}, {@code "0-31"}, {@code "local"}, {@code "hostname:orders"}, or the URL of a lease server. Of all calls
         * that set the worker, the last one counts.
         */
        public Builder worker(String worker) {
            return set("worker", worker);
        }

        /** This worker id. */
        public Builder worker(long id) {
            return set("worker", id);
        }

        /** Any free id of a range, both ends included. */
        public Builder worker(long first, long last) {
            return set("worker", first + "-" + last);
        }

        /** Lease servers, of which the first is preferred. */
        public Builder worker(Collection<String> urls) {
            return option("worker", array(urls));
        }

        /** A function that returns a worker id that no other process on any host holds, or null. */
        public Builder worker(WorkerClaim claim) {
            return workers(false, claim == null ? null : event -> {
                ClaimRequest request = new ClaimRequest(event);
                Long id = claim.claim(request.name(), request.previous());
                return id == null ? null : new String[] {id.toString()};
            });
        }

        /** An object that leases worker ids from what all hosts share. */
        public Builder worker(WorkerLeases leases) {
            return workers(true, leases == null ? null : event -> Leasing.answer(leases, event));
        }

        /** Your statement that no other container or host has this range. */
        public Builder exclusiveRange(boolean exclusive) {
            return set("exclusiveRange", exclusive);
        }

        /** How long a start without a record issues nothing, milliseconds. */
        public Builder noRecordWaitMs(long ms) {
            return set("noRecordWaitMs", ms);
        }

        /** A preset, such as {@code "leaf"} or {@code "js-safe"}, or bits as in {@code "35|5|23"}. */
        public Builder layout(String layout) {
            return set("layout", layout);
        }

        /** The layout of the ids. */
        public Builder layout(Layout layout) {
            return option("layout", layout == null ? null : layout.texts());
        }

        /** The time of tick 0, Unix milliseconds. */
        public Builder epochMs(long ms) {
            return set("epochMs", ms);
        }

        /** {@code "continue"} or {@code "wait"}, when the clock is behind the last id. */
        public Builder onClockBackwards(String rule) {
            return set("onClockBackwards", rule);
        }

        /** How far the clock may be behind the last id, milliseconds. */
        public Builder maxBackwardsMs(long ms) {
            return set("maxBackwardsMs", ms);
        }

        /** {@code "wait"} or {@code "borrow"}, when the sequence of a tick is used up. */
        public Builder onExhausted(String rule) {
            return set("onExhausted", rule);
        }

        /** A new tick starts its sequence at a pseudo-random number below this. */
        public Builder randomStart(long below) {
            return set("randomStart", below);
        }

        /** {@code "system"} or {@code "coarse"}. */
        public Builder clockSource(String source) {
            return set("clockSource", source);
        }

        /** The largest existing id of this layout: every id will be of a later tick. */
        public Builder startAfter(long id) {
            return set("startAfter", id);
        }

        /** Returns the clocks of peers, with which this one is compared before each claim. */
        public Builder peerTimes(PeerTimes peers) {
            peerTimes = peers;
            return this;
        }

        /** True: claim the worker id at the first id and not at the opening. */
        public Builder lazy(boolean lazy) {
            return set("lazy", lazy);
        }

        /**
         * Opens it: claims a worker id, unless it is lazy.
         *
         * @throws LeafidException {@code invalid_argument}, {@code worker_in_use}, {@code worker_lost} and each code of a
         *     source of worker ids, {@code clock_backwards}, {@code before_epoch}, {@code time_exhausted}, {@code state_io},
         *     {@code state_corrupt}, {@code state_mismatch}
         */
        public Snowflake open() {
            return new Snowflake(this);
        }

        private UserObject workers() {
            return workers == null ? null : new UserObject(workers, executor);
        }

        private UserObject peers() {
            if (peerTimes == null) return null;
            return new UserObject(event -> Leasing.texts(peerTimes.timesMs()), executor);
        }
    }
}
