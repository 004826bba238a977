package io.leafid.leaf;

import io.leafid.LeafidException;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.leaf.common.Result;
import io.leafid.leaf.common.Status;
import java.util.function.ToLongFunction;

/** {@link IDGen} over leafid: in place of {@code SegmentIDGenImpl} and {@code SnowflakeIDGenImpl}. */
public final class LeafIDGen implements IDGen {
    private final ToLongFunction<String> next;

    /** A key is a tag of these. */
    public LeafIDGen(Segments segments) {
        next = key -> segments.tag(key).next();
    }

    /** All keys have ids of this one. */
    public LeafIDGen(Snowflake ids) {
        next = key -> ids.next();
    }

    @Override
    public Result get(String key) {
        try {
            return new Result(next.applyAsLong(key), Status.SUCCESS);
        } catch (LeafidException error) {
            long id = error.code().equals("unknown_tag") ? -2 : error.code().equals("segment_unavailable") ? -3 : -1;
            return new Result(id, Status.EXCEPTION, error);
        }
    }

    @Override
    public boolean init() {
        return true;
    }
}
