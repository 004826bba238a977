package io.leafid;

/** A request for a worker id. */
public final class ClaimRequest {
    private final String[] event;

    ClaimRequest(String[] event) {
        this.event = event;
    }

    /** The id space. */
    public String name() {
        return event[3];
    }

    /** 128 random bits in hex, new for each claim. */
    public String instance() {
        return event[4];
    }

    /** The worker id that this generator held before; null at the first claim. */
    public Long previous() {
        return event[5] == null ? null : Long.valueOf(event[5]);
    }

    /** The clock, Unix milliseconds. */
    public long nowMs() {
        return Long.parseLong(event[6]);
    }

    /** The requested end of the span, Unix milliseconds. The source may return an earlier or a later one. */
    public long untilMs() {
        return Long.parseLong(event[7]);
    }
}
