package io.leafid;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Ids from ranges that are leased from a source: a Leaf, a leafid-server, a tinyid, a directory, or your own function; one
 * counter for each tag. The next range is fetched in advance.
 *
 * <pre>{@code
 * try (Segments segments = Segments.builder().servers("http://leaf:8080").open()) {
 *     long id = segments.tag("order").next();
 * }
 * }</pre>
 */
public final class Segments extends Opened {
    private static final Ends ENDS = new Ends() {
        @Override
        public void close(long handle) {
            Segments.close(handle);
        }

        @Override
        public void free(long handle) {
            Segments.free(handle);
        }
    };

    private final String[][] rows;
    private final UserObject fetch;
    private final Map<String, Tag> tags = new ConcurrentHashMap<>();
    /** Known after the close, too. */
    private volatile String[] named;

    private Segments(Builder options) {
        super(ENDS);
        rows = options.rows();
        fetch = options.fetch();
        start();
    }

    @Override
    long begin() {
        long opened = open(rows, Native.keep(fetch));
        named = stats(opened);
        return opened;
    }

    @Override
    void pause() {
        changes.lock();
        try {
            for (Tag tag : tags.values()) tag.seal();
            super.pause();
        } finally {
            changes.unlock();
        }
    }

    @Override
    void resume() {
        changes.lock();
        try {
            long before = handle;
            super.resume();
            if (handle != before) for (Tag tag : tags.values()) tag.resume(tag(handle, tag.name()));
        } finally {
            changes.unlock();
        }
    }

    @Override
    String space() {
        return "the name " + named[0] + ", source " + named[1];
    }

    /** The options of segments; see docs/OPTIONS.md. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The tag of this name; the same object each time.
     *
     * @throws LeafidException {@code invalid_argument}, {@code closed}
     */
    public Tag tag(String name) {
        if (name == null) throw new LeafidException("invalid_argument", "tag is null: name the counter", false);
        Tag known = tags.get(name);
        if (known != null) return known;
        // A pause seals all tags, and none is made while it does.
        changes.lock();
        try {
            return tags.computeIfAbsent(name, absent -> new Tag(this, absent, tag(handle, absent)));
        } finally {
            changes.unlock();
        }
    }

    /** The statistics of the segments, and of each tag that was used here. */
    public SegmentsStats stats() {
        List<TagStats> each = new ArrayList<>();
        for (Tag tag : tags.values()) each.add(tag.stats());
        return new SegmentsStats(stats(handle), each);
    }

    /**
     * Closes all tags; a second call does nothing. No id is issued from then on.
     *
     * @throws LeafidException {@code state_io}
     */
    @Override
    public void close() {
        super.close();
    }

    @Override
    public String toString() {
        return "Segments(" + named[1] + ")";
    }

    private static native long open(String[][] options, long fetch);

    private static native void free(long handle);

    private native long tag(long handle, String name);

    private native String[] stats(long handle);

    private static native void close(long handle);

    /** The options of segments. */
    public static final class Builder extends Options<Builder> {
        private Fetch fetch;

        private Builder() {
            Native.load();
        }

        /** URLs, of which the first is preferred; or {@code "file:DIR"} alone. */
        public Builder servers(String... urls) {
            return option("servers", urls);
        }

        /** The same, as a collection. */
        public Builder servers(Collection<String> urls) {
            return option("servers", array(urls));
        }

        /** A function instead of servers. */
        public Builder fetch(Fetch fetch) {
            this.fetch = fetch;
            return this;
        }

        /** {@code "leaf"}, {@code "leaf-snowflake"}, {@code "range"} or {@code "tinyid"}. */
        public Builder protocol(String protocol) {
            return set("protocol", protocol);
        }

        /** How many ids to ask for. */
        public Builder step(long step) {
            return set("step", step);
        }

        /** True: the step follows the use. */
        public Builder adaptive(boolean adaptive) {
            return set("adaptive", adaptive);
        }

        /** The next segment is fetched when more than this percentage of a segment is used. */
        public Builder prefetch(long percent) {
            return set("prefetch", percent);
        }

        /** A counter of {@code file:DIR}, created with its first fetch if missing. Call it once for each. */
        public Builder tag(String name, long start, long step) {
            tags.add(name);
            tags.add(Long.toString(start));
            tags.add(Long.toString(step));
            return option("tags", array(tags));
        }

        private final List<String> tags = new ArrayList<>();

        /** True: create {@code file:DIR} if it is missing. */
        public Builder create(boolean create) {
            return set("create", create);
        }

        /** Tags that are fetched at the opening, in the background; {@code "last-day"} for those of the last day. */
        public Builder prewarm(String... names) {
            return option("prewarm", names);
        }

        /** True: a clean close stores the unused ids for the next opening on this machine. */
        public Builder keepUnused(boolean keep) {
            return set("keepUnused", keep);
        }

        /** False: a segment may lie below earlier ones. */
        public Builder orderedSource(boolean ordered) {
            return set("orderedSource", ordered);
        }

        /** Kept-alive connections to each server. */
        public Builder connections(long count) {
            return set("connections", count);
        }

        /** Number n of a Leaf stands for this many ids. */
        public Builder blockSize(long ids) {
            return set("blockSize", ids);
        }

        /**
         * Opens them.
         *
         * @throws LeafidException {@code invalid_argument}, {@code state_io}; for {@code file:DIR} {@code unknown_tag}, of a
         *     directory without its marker, and {@code state_corrupt}
         */
        public Segments open() {
            return new Segments(this);
        }

        private UserObject fetch() {
            if (fetch == null) return null;
            Fetch own = fetch;
            return new UserObject(event -> {
                Segment segment = own.fetch(event[3], Long.parseLong(event[4]), Long.parseLong(event[5]));
                return segment == null ? null : segment.texts();
            }, executor);
        }
    }
}
