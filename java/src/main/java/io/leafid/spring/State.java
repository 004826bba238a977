package io.leafid.spring;

import io.leafid.LeafidException;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.SnowflakeStats;
import io.leafid.TagStats;
import java.util.LinkedHashMap;
import java.util.Map;
import org.springframework.beans.factory.ObjectProvider;

/**
 * What the health indicator shows. It is down when the next call would fail: a source that is away costs nothing yet.
 *
 * <p>What rests tries again for a caller alone, and a program that is down may get no calls. So a look at what is down has
 * it try, and does not wait: a later look shows what came of it.
 */
final class State {
    private final Map<String, Object> details = new LinkedHashMap<>();
    private final long nowMs;
    private boolean isUp = true;

    State(ObjectProvider<Snowflake> ids, ObjectProvider<Segments> segments, long nowMs) {
        this.nowMs = nowMs;
        try {
            ids.orderedStream().forEach(each -> show(each, each.stats()));
            segments.orderedStream().forEach(each -> each.stats().tags().forEach(tag -> show(each, tag)));
        } catch (LeafidException error) {
            isUp = false;
            details.put("error", error.code() + ": " + error.getMessage());
        }
    }

    String status() {
        return isUp ? "UP" : "DOWN";
    }

    Map<String, Object> details() {
        return details;
    }

    private void show(Snowflake ids, SnowflakeStats stats) {
        details.put("workerId", stats.workerId());
        if (stats.leaseUntilMs() != null) details.put("leaseUntilMs", stats.leaseUntilMs());
        if (stats.lastError() == null) return;
        details.put("lastError", stats.lastError());
        // Until then ids go on.
        if (stats.reservedUntilMs() > nowMs) return;
        isUp = false;
        ids.nextAsync();
    }

    private void show(Segments segments, TagStats stats) {
        Map<String, Object> tag = new LinkedHashMap<>();
        tag.put("left", stats.left());
        if (stats.lastError() != null) {
            tag.put("lastError", stats.lastError());
            // A tag that the source does not know is a mistake of one caller.
            if (stats.left() == 0 && !stats.lastError().startsWith("unknown_tag:")) {
                isUp = false;
                // It takes an id only if its fetch ended since the look: that is a gap.
                segments.tag(stats.tag()).tryNext();
            }
        }
        details.put("tag " + stats.tag(), tag);
    }
}
