package io.leafid.micrometer;

import io.leafid.Leafid;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@link Leafid#metrics} as meters: {@code leafid_snowflake_ids_total} of docs/MONITORING.md is the counter
 * {@code leafid.snowflake.ids}, {@code leafid_segment_wait_seconds} the timer {@code leafid.segment.wait}. So Micrometer's
 * Prometheus shows the names of that page.
 */
public final class LeafidMetrics implements MeterBinder {
    @Override
    public void bindTo(MeterRegistry registry) {
        new Reading(registry).refresh();
    }

    /** The samples of this process, read at most once in a while, when a meter is. */
    private static final class Reading {
        private static final long FRESH_NS = 100_000_000;
        private static final Pattern SAMPLE = Pattern.compile("([a-z_]+)(?:\\{(.*)\\})? (\\S+)");
        private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

        private final MeterRegistry registry;
        private final AtomicLong readAt = new AtomicLong(System.nanoTime() - FRESH_NS);
        private final Map<String, Meter> meters = new HashMap<>();
        private volatile Map<String, Double> values = Collections.emptyMap();

        Reading(MeterRegistry registry) {
            this.registry = registry;
        }

        private double value(String sample) {
            long last = readAt.get();
            long now = System.nanoTime();
            if (now - last >= FRESH_NS && readAt.compareAndSet(last, now)) refresh();
            return values.getOrDefault(sample, Double.NaN);
        }

        /** Tags and worker ids come and go, and so do their meters. */
        synchronized void refresh() {
            Map<String, Double> read = new HashMap<>();
            Map<String, String> kinds = new HashMap<>();
            for (String line : Leafid.metrics().split("\n")) {
                if (line.startsWith("# TYPE ")) {
                    String[] words = line.split(" ");
                    kinds.put(words[2], words[3]);
                }
                if (line.startsWith("#")) continue;
                int end = line.lastIndexOf(' ');
                read.put(line.substring(0, end), Double.valueOf(line.substring(end + 1)));
            }
            values = read;
            meters.entrySet().removeIf(known -> {
                boolean isGone = !read.containsKey(known.getKey());
                if (isGone) registry.remove(known.getValue());
                return isGone;
            });
            for (String sample : read.keySet()) if (!meters.containsKey(sample)) register(sample, kinds);
        }

        private void register(String sample, Map<String, String> kinds) {
            Matcher parts = SAMPLE.matcher(sample + " 0");
            if (!parts.matches()) return;
            String name = parts.group(1);
            String labels = parts.group(2) == null ? "" : parts.group(2);
            String family = name.replaceFirst("_(total|count)$", "");
            String kind = kinds.getOrDefault(family, kinds.get(name));
            // Its buckets and its sum belong to the count.
            if (kind == null) return;
            boolean isSeconds = family.endsWith("_seconds");
            String dotted = family.replaceFirst("_seconds$", "").replace('_', '.');
            Tags tags = tags(labels);
            Meter meter;
            if (kind.equals("counter")) {
                meter = FunctionCounter.builder(dotted, this, its -> its.value(sample)).tags(tags).register(registry);
            } else if (kind.equals("histogram")) {
                String sum = family + "_sum" + sample.substring(name.length());
                meter = FunctionTimer.builder(dotted, this, its -> (long) its.value(sample), its -> its.value(sum),
                        TimeUnit.SECONDS).tags(tags).register(registry);
            } else {
                // By a supplier, which holds this object; the others hold it weakly.
                meter = Gauge.builder(dotted, () -> value(sample)).tags(tags).baseUnit(isSeconds ? "seconds" : null)
                        .register(registry);
            }
            meters.put(sample, meter);
        }

        private static Tags tags(String labels) {
            List<Tag> tags = new ArrayList<>();
            for (Matcher each = LABEL.matcher(labels); each.find(); ) tags.add(Tag.of(each.group(1), unescaped(each.group(2))));
            return Tags.of(tags);
        }

        private static String unescaped(String text) {
            return text.replaceAll("\\\\([^n])", "$1").replace("\\n", "\n");
        }
    }
}
