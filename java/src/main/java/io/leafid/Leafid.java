package io.leafid;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.ReentrantLock;

/** What belongs to the whole program. */
public final class Leafid {
    /** The last one first. One that is closed leaves it. */
    private static final Deque<Opened> USED = new ConcurrentLinkedDeque<>();
    /** An opening waits, and a monitor would hold the carrier of a virtual thread. */
    private static final ReentrantLock OPENING = new ReentrantLock();

    private Leafid() {}

    /** The version of leafid. */
    public static String version() {
        return Native.version();
    }

    /**
     * The generator of code that nothing hands one to, such as an entity's {@code @LeafId}: the last one of {@link #use}
     * that is open, else one by the environment, such as {@code LEAFID_WORKER=0-31}, which is opened then.
     *
     * @throws LeafidException as {@link Snowflake.Builder#open}
     */
    public static Snowflake snowflake() {
        Snowflake used = used(Snowflake.class);
        if (used != null) return used;
        OPENING.lock();
        try {
            used = used(Snowflake.class);
            if (used != null) return used;
            Snowflake own = Snowflake.open();
            use(own);
            return own;
        } finally {
            OPENING.unlock();
        }
    }

    /**
     * The segments of code that nothing hands any to: the last ones of {@link #use} that are open.
     *
     * @throws IllegalStateException if there are none
     */
    public static Segments segments() {
        Segments used = used(Segments.class);
        if (used == null) throw new IllegalStateException("no segments are open: call Leafid.use(segments) at the start");
        return used;
    }

    /** Names the generator of {@link #snowflake}. */
    public static void use(Snowflake ids) {
        used(ids);
    }

    /** Names the segments of {@link #segments}. */
    public static void use(Segments segments) {
        used(segments);
    }

    private static void used(Opened each) {
        USED.removeIf(used -> used == each);
        USED.push(each);
        if (each.isClosed()) closed(each);
    }

    private static <T> T used(Class<T> kind) {
        Opened last = null;
        for (Opened each : USED) {
            if (!kind.isInstance(each)) continue;
            if (last != null && !each.space().equals(last.space())) {
                throw new IllegalStateException("several are in use, of " + last.space() + " and of " + each.space()
                        + ": what has no id of its own cannot know which; hand it one");
            }
            // One that a checkpoint has left closed still says whose ids these are.
            if (last == null || last.isPaused() && !each.isPaused()) last = each;
        }
        return kind.cast(last);
    }

    static void closed(Opened each) {
        USED.removeIf(used -> used == each);
    }

    /**
     * The statistics of everything open in this program, in the OpenMetrics text format of Prometheus. Serve it as
     * {@code application/openmetrics-text; version=1.0.0; charset=utf-8}.
     */
    public static String metrics() {
        return Native.metrics();
    }

    /** The command line: {@code java -jar leafid.jar check}. */
    public static void main(String[] arguments) {
        System.exit((int) Native.cli(arguments));
    }
}
