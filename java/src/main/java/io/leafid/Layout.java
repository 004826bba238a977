package io.leafid;

import java.util.Arrays;

/** How an id is made of time, worker id and sequence. docs/CHOOSING.md has a table of layouts. */
public final class Layout {
    static final int FIELDS = 6;

    static {
        Native.load();
    }

    /** 41 bits of milliseconds, 10 of the worker id, 12 of the sequence; Leaf's epoch. */
    public static final Layout LEAF = of("leaf");

    private final long[] fields;

    Layout(long[] fields) {
        this.fields = fields;
    }

    /**
     * A preset ({@code leaf}, {@code uid-generator}, {@code yitter}, {@code sonyflake}, {@code js-safe}), or bits as in
     * {@code "35|5|23"}.
     *
     * @throws LeafidException {@code invalid_argument}
     */
    public static Layout of(String text) {
        long[] fields = new long[FIELDS];
        parse(text, fields);
        return new Layout(fields);
    }

    /** This layout with another time of tick 0, Unix milliseconds. */
    public Layout withEpochMs(long epochMs) {
        return with(3, epochMs);
    }

    /** This layout with another length of a tick, milliseconds. */
    public Layout withTickMs(long tickMs) {
        return with(4, tickMs);
    }

    /** This layout with the sequence above the worker id, or below. */
    public Layout withSequenceFirst(boolean sequenceFirst) {
        return with(5, sequenceFirst ? 1 : 0);
    }

    private Layout with(int at, long value) {
        long[] changed = fields.clone();
        changed[at] = value;
        check(changed);
        return new Layout(changed);
    }

    String[] texts() {
        return Leasing.texts(fields);
    }

    /** Bits of the tick counter. */
    public int timestampBits() {
        return (int) fields[0];
    }

    /** Bits of the worker id. */
    public int workerBits() {
        return (int) fields[1];
    }

    /** Bits of the sequence. */
    public int sequenceBits() {
        return (int) fields[2];
    }

    /** The time of tick 0, Unix milliseconds. */
    public long epochMs() {
        return fields[3];
    }

    /** The length of a tick, milliseconds. */
    public long tickMs() {
        return fields[4];
    }

    /**
     * The parts of an id.
     *
     * @throws LeafidException {@code invalid_argument}
     */
    public Parts decode(long id) {
        long[] parts = new long[3];
        decode(fields, id, parts);
        return new Parts(parts[0], (int) parts[1], (int) parts[2]);
    }

    /**
     * The id of these parts, such as those of an id that exists: it is not a new one.
     *
     * @throws LeafidException {@code invalid_argument}, {@code before_epoch}, {@code time_exhausted}
     */
    public long compose(long timestampMs, int workerId, int sequence) {
        return idAt(fields, 2, timestampMs, workerId, sequence);
    }

    /** The smallest id of a time, for queries. */
    public long firstIdAt(long timestampMs) {
        return idAt(fields, 0, timestampMs, 0, 0);
    }

    /** The largest id of a time, for queries. */
    public long lastIdAt(long timestampMs) {
        return idAt(fields, 1, timestampMs, 0, 0);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Layout && Arrays.equals(fields, ((Layout) other).fields);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(fields);
    }

    @Override
    public String toString() {
        return "Layout(" + timestampBits() + "|" + workerBits() + "|" + sequenceBits() + ", epochMs " + epochMs() + ", tickMs "
                + tickMs() + (fields[5] == 0 ? "" : ", the sequence first") + ")";
    }

    private static native void parse(String text, long[] out);

    private static native void check(long[] fields);

    private static native void decode(long[] fields, long id, long[] out);

    private static native long idAt(long[] fields, long what, long timestampMs, long workerId, long sequence);
}
