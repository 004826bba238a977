package io.leafid;

/** Returns the clocks of peers. */
@FunctionalInterface
public interface PeerTimes {
    /** Unix milliseconds. If it fails, the start continues. */
    long[] timesMs() throws Exception;
}
