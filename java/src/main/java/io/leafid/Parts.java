package io.leafid;

/** The parts of an id. */
public final class Parts {
    private final long timestampMs;
    private final int workerId;
    private final int sequence;

    Parts(long timestampMs, int workerId, int sequence) {
        this.timestampMs = timestampMs;
        this.workerId = workerId;
        this.sequence = sequence;
    }

    /** The start of its tick, Unix milliseconds. */
    public long timestampMs() {
        return timestampMs;
    }

    /** The worker id. */
    public int workerId() {
        return workerId;
    }

    /** The number within the tick. */
    public int sequence() {
        return sequence;
    }

    @Override
    public String toString() {
        return "Parts(timestampMs=" + timestampMs + ", workerId=" + workerId + ", sequence=" + sequence + ")";
    }
}
