package io.leafid;

/** The statistics of a generator. Times are Unix milliseconds. */
public final class SnowflakeStats {
    private final String[] texts;

    SnowflakeStats(String[] texts) {
        this.texts = texts;
    }

    private long number(int at) {
        return Long.parseLong(texts[at]);
    }

    /** The id space. */
    public String name() {
        return texts[0];
    }

    /** The worker id. */
    public int workerId() {
        return (int) number(1);
    }

    /** The directory of the records. */
    public String stateDir() {
        return texts[2];
    }

    /** The layout's name or bits. */
    public String layout() {
        return texts[3];
    }

    /** The layout's epoch. */
    public long epochMs() {
        return number(4);
    }

    /** The end of the layout. */
    public long expiresAtMs() {
        return number(5);
    }

    /** The end of the durable span. */
    public long reservedUntilMs() {
        return number(6);
    }

    /** How far the logical clock is ahead of the clock, milliseconds. */
    public long leadMs() {
        return number(7);
    }

    /** How late the clock may be, milliseconds. */
    public long clockLagMs() {
        return number(8);
    }

    /** The end of the lease; null without one. */
    public Long leaseUntilMs() {
        return texts[9] == null ? null : Long.valueOf(texts[9]);
    }

    /** The number of ids issued or reserved since the claim. */
    public long ids() {
        return number(10);
    }

    /** The number of claims of a worker id. */
    public long claims() {
        return number(11);
    }

    /** The number of open handles of the generator. */
    public long handles() {
        return number(12);
    }

    /** The number of spans made durable since the start. */
    public long renewals() {
        return number(13);
    }

    /** The number of failed renewals. */
    public long renewalFailures() {
        return number(14);
    }

    /** The last error; null without one. */
    public String lastError() {
        return texts[15];
    }
}
