package io.leafid;

/** The result of a renewal. */
public final class Renewal {
    private final long untilMs;
    private final Long leaseMs;
    private final String token;

    /** @param untilMs the new end of the span, exclusive, Unix milliseconds, which was stored before */
    public Renewal(long untilMs) {
        this(untilMs, null, null);
    }

    /**
     * @param leaseMs as that of {@link Lease}; null keeps the last one
     * @param token as that of {@link Lease}; null keeps the last one
     */
    public Renewal(long untilMs, Long leaseMs, String token) {
        this.untilMs = untilMs;
        this.leaseMs = leaseMs;
        this.token = token;
    }

    String[] texts() {
        return new String[] {null, Long.toString(untilMs), leaseMs == null ? null : leaseMs.toString(), token};
    }
}
