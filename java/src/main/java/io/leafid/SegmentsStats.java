package io.leafid;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The statistics of segments. */
public final class SegmentsStats {
    private final String[] texts;
    private final List<TagStats> tags;

    SegmentsStats(String[] texts, List<TagStats> tags) {
        this.texts = texts;
        this.tags = Collections.unmodifiableList(tags);
    }

    /** The id space. */
    public String name() {
        return texts[0];
    }

    /** What gives the segments. */
    public String source() {
        return texts[1];
    }

    /** The directory of the records. */
    public String stateDir() {
        return texts[2];
    }

    /** Each server, and its last error, which may be null. */
    public Map<String, String> servers() {
        Map<String, String> servers = new LinkedHashMap<>();
        for (int at = 3; at + 1 < texts.length; at += 2) servers.put(texts[at], texts[at + 1]);
        return servers;
    }

    /** Each tag that was used. */
    public List<TagStats> tags() {
        return tags;
    }
}
