package io.leafid;

/** The statistics of a tag. */
public final class TagStats {
    private final String[] texts;
    private Segment current;
    private Segment next;
    private long left;

    /** {@code rest}: the ids that Java holds, so many, or null. They come before all others. */
    TagStats(String[] texts, Segment rest, long count) {
        this.texts = texts;
        current = Segment.parse(texts[1]);
        next = Segment.parse(texts[2]);
        left = Long.parseLong(texts[3]);
        if (rest == null) return;
        boolean follows = current != null && current.stride() == rest.stride()
                && rest.end() - 1 + rest.stride() == current.start();
        if (!follows && current != null) next = current;
        current = new Segment(rest.start(), follows ? current.end() : rest.end(), rest.stride());
        left += count;
    }

    /** The tag. */
    public String tag() {
        return texts[0];
    }

    /** What is left of the segment in use; null without one. */
    public Segment current() {
        return current;
    }

    /** The segment that comes next; null without one. */
    public Segment next() {
        return next;
    }

    /** The ids in memory. */
    public long left() {
        return left;
    }

    /** The ids that were issued, or taken to be issued. */
    public long ids() {
        return Long.parseLong(texts[4]);
    }

    /** The step of the last fetch, or of the first fetch to come; 0 leaves it to the source. */
    public long step() {
        return Long.parseLong(texts[5]);
    }

    /** Whether a fetch is under way. */
    public boolean fetching() {
        return Boolean.parseBoolean(texts[6]);
    }

    /** The fetches that have ended, with those that failed. */
    public long fetches() {
        return Long.parseLong(texts[7]);
    }

    /** The fetches that failed. */
    public long failures() {
        return Long.parseLong(texts[8]);
    }

    /** The calls that have waited. */
    public long waits() {
        return Long.parseLong(texts[9]);
    }

    /** The calls that wait. */
    public long waiting() {
        return Long.parseLong(texts[10]);
    }

    /** The error of the last fetch; null after a success. */
    public String lastError() {
        return texts[11];
    }
}
