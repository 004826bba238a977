package bench;

import io.leafid.Segment;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.Tag;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import me.ahoo.cosid.segment.IdSegmentDistributor;
import me.ahoo.cosid.segment.SegmentChainId;
import me.ahoo.cosid.snowflake.MillisecondSnowflakeId;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/** One id, beside its floor and CosId's. A snowflake's rate has an end of its own: 4,096 ids a millisecond, 244 ns an id. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Ids {
    private static final int BATCH = 1000;

    private final AtomicLong counter = new AtomicLong();
    private final long[] ids = new long[BATCH];
    private Snowflake flake;
    private Segments segments;
    private Tag tag;
    private MillisecondSnowflakeId cosidFlake;
    private SegmentChainId cosidTag;

    @Setup
    public void open() throws IOException {
        String dir = Files.createTempDirectory("leafid-bench-").toString();
        // A millisecond has 4 million ids: what is measured is the call, and not the wait for the next tick. 31 bits of
        // them last for 24 days.
        long epochMs = System.currentTimeMillis() - 60_000;
        flake = Snowflake.builder().worker(1).stateDir(dir).layout("31|10|22").epochMs(epochMs).open();
        AtomicLong database = new AtomicLong(1);
        segments = Segments.builder().stateDir(dir).step(1_000_000).fetch((name, step, after) -> {
            long start = database.getAndAdd(step);
            return new Segment(start, start + step);
        }).open();
        tag = segments.tag("order");
        tag.next();
        cosidFlake = new MillisecondSnowflakeId(epochMs, 31, 10, 22, 1);
        cosidTag = new SegmentChainId(new IdSegmentDistributor.Atomic(1_000_000));
    }

    @TearDown
    public void close() {
        flake.close();
        segments.close();
    }

    @Benchmark
    public long snowflake() {
        return flake.next();
    }

    @Benchmark
    public long snowflakeFloor() {
        return System.currentTimeMillis() + counter.getAndIncrement();
    }

    @Benchmark
    public long snowflakeCosid() {
        return cosidFlake.generate();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long[] snowflakeFill() {
        flake.fill(ids);
        return ids;
    }

    @Benchmark
    public long tag() {
        return tag.next();
    }

    @Benchmark
    public long tagFloor() {
        return counter.getAndIncrement();
    }

    @Benchmark
    public long tagCosid() {
        return cosidTag.generate();
    }

    @Benchmark
    @Threads(2)
    public long tagTwo() {
        return tag.next();
    }

    @Benchmark
    @Threads(2)
    public long tagTwoFloor() {
        return counter.getAndIncrement();
    }

    @Benchmark
    @Threads(2)
    public long tagTwoCosid() {
        return cosidTag.generate();
    }

    @Benchmark
    @OperationsPerInvocation(BATCH)
    public long[] tagFill() {
        tag.fill(ids);
        return ids;
    }
}
