package io.leafid;

/** A worker id, and the span of time in which its holder may make ids with it. */
public final class Lease {
    private final long workerId;
    private final long fromMs;
    private final long untilMs;
    private final Long leaseMs;
    private final String token;
    private final long[] peerTimesMs;

    /**
     * @param workerId the worker id
     * @param fromMs the start of the span, Unix milliseconds: at or above the {@code untilMs} of every earlier holder
     * @param untilMs the end of the span, exclusive, which was stored before
     */
    public Lease(long workerId, long fromMs, long untilMs) {
        this(workerId, fromMs, untilMs, null, null, new long[0]);
    }

    /**
     * @param leaseMs how long the id is reserved for this holder without a renewal; null: until {@code untilMs}
     * @param token by which the source knows this holder; may be null
     * @param peerTimesMs the clocks of other holders, Unix milliseconds
     */
    public Lease(long workerId, long fromMs, long untilMs, Long leaseMs, String token, long... peerTimesMs) {
        this.workerId = workerId;
        this.fromMs = fromMs;
        this.untilMs = untilMs;
        this.leaseMs = leaseMs;
        this.token = token;
        this.peerTimesMs = peerTimesMs.clone();
    }

    /** The worker id. */
    public long workerId() {
        return workerId;
    }

    /** The start of the span, Unix milliseconds. */
    public long fromMs() {
        return fromMs;
    }

    /** The end of the span, exclusive, Unix milliseconds. */
    public long untilMs() {
        return untilMs;
    }

    /** How long the id is reserved without a renewal, milliseconds; null: until {@link #untilMs}. */
    public Long leaseMs() {
        return leaseMs;
    }

    /** By which the source knows this holder; may be null. */
    public String token() {
        return token;
    }

    long[] peerTimesMs() {
        return peerTimesMs;
    }
}
