package io.leafid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.leafid.micrometer.LeafidMetrics;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MicrometerTest {
    @TempDir
    Path dir;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

    /** As a registry that reports: each meter is read, and after a while its own reading is old. */
    private void report() throws InterruptedException {
        Thread.sleep(101);
        for (Meter meter : meters.getMeters()) meter.measure().forEach(each -> each.getValue());
    }

    @Test
    void metersFollowWhatIsOpen() throws Exception {
        new LeafidMetrics().bindTo(meters);
        assertTrue(meters.get("leafid.build.info").tag("version", Leafid.version()).gauge().value() == 1);
        System.gc();
        try (Snowflake ids = Snowflake.builder().stateDir(dir.toString()).worker(7).timeoutMs(60_000).open();
                Segments segments = Segments.builder().stateDir(dir.toString()).fetch((tag, step, after) -> new Segment(1, 1000))
                        .timeoutMs(60_000).open()) {
            ids.take(10);
            segments.tag("order").next();
            report();
            assertTrue(meters.get("leafid.snowflake.ids").tags("worker_id", "7").functionCounter().count() >= 10);
            assertEquals("seconds", meters.get("leafid.snowflake.lead").gauge().getId().getBaseUnit());
            assertTrue(meters.get("leafid.segment.fetch").tag("tag", "order").functionTimer().count() >= 1);
            assertTrue(meters.get("leafid.segment.fetch").functionTimer().totalTime(java.util.concurrent.TimeUnit.NANOSECONDS) > 0);
            assertTrue(meters.get("leafid.segment.left").gauge().value() > 0);
            assertNull(meters.find("leafid.segment.fetch.seconds.bucket").meter());
        }
        report();
        assertNull(meters.find("leafid.snowflake.ids").meter(), "it was closed");
    }
}
