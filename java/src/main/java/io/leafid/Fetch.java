package io.leafid;

/** Returns ranges of ids from a source of your own, such as a row of a database. */
@FunctionalInterface
public interface Fetch {
    /**
     * A range that was given to nobody before, and is stored as given. What it throws becomes
     * {@code segment_unavailable} with that text, and leafid calls it again later; a {@link LeafidException} keeps its code.
     *
     * @param tag the tag whose ids are asked for
     * @param step how many ids; the range may have another number
     * @param after every id below was given before
     * @return null for an unknown tag
     */
    Segment fetch(String tag, long step, long after) throws Exception;
}
