package io.leafid;

/** A range of ids: {@code start}, {@code start + stride} …, below {@code end}. */
public final class Segment {
    private final long start;
    private final long end;
    private final long stride;

    /** Ids without gaps; {@code end} is exclusive. */
    public Segment(long start, long end) {
        this(start, end, 1);
    }

    /** Ids with gaps; {@code end} is exclusive. */
    public Segment(long start, long end, long stride) {
        this.start = start;
        this.end = end;
        this.stride = stride;
    }

    static Segment parse(String text) {
        if (text == null) return null;
        String[] words = text.split(" ");
        return new Segment(Long.parseLong(words[0]), Long.parseLong(words[1]), Long.parseLong(words[2]));
    }

    String[] texts() {
        return Leasing.texts(start, end, stride);
    }

    /** The first id. */
    public long start() {
        return start;
    }

    /** The end, exclusive. */
    public long end() {
        return end;
    }

    /** The distance between two ids. */
    public long stride() {
        return stride;
    }

    @Override
    public String toString() {
        return "Segment(" + start + " to " + end + (stride == 1 ? ")" : ", every " + stride + ")");
    }
}
