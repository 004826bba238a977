package io.leafid;

/**
 * Leases worker ids from a place that all hosts share. leafid calls it on another thread, one call at a time for a
 * generator, but for calls that have not returned after {@code timeoutMs}: these are abandoned.
 *
 * <p>One rule makes ids unique: a span that was returned overlaps no other span of the same worker id. So store
 * {@code untilMs} before you return it, lower it only in {@link #release}, and start the next holder's {@code fromMs} at or
 * above it.
 */
public interface WorkerLeases {
    /** Leases a free worker id with a span; null if none is free ({@code worker_in_use}). */
    Lease claim(ClaimRequest request) throws Exception;

    /**
     * Extends the span to about {@code untilMs}, and stores a new token; null, or a {@link LeafidException} of
     * {@code worker_lost}, if this holder has lost the id. After another failure the generator uses its span to the end, and
     * calls again.
     */
    Renewal renew(Lease lease, long untilMs) throws Exception;

    /** Releases the id. No id was or will be issued at or after {@code untilMs}. */
    void release(Lease lease, long untilMs) throws Exception;
}
