package io.leafid.mybatis;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.leafid.Snowflake;

/** The ids of MyBatis-Plus's {@code @TableId(type = IdType.ASSIGN_ID)}, for its {@code GlobalConfig}. */
public final class LeafIdentifierGenerator implements IdentifierGenerator {
    private final Snowflake ids;

    /** With ids of this generator, which stays open. */
    public LeafIdentifierGenerator(Snowflake ids) {
        this.ids = ids;
    }

    @Override
    public Number nextId(Object entity) {
        return ids.next();
    }
}
