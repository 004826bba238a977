package io.leafid.mybatis;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import com.baomidou.mybatisplus.core.metadata.TableInfo;
import com.baomidou.mybatisplus.core.metadata.TableInfoHelper;
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
        TableInfo table = entity == null ? null : TableInfoHelper.getTableInfo(entity.getClass());
        Class<?> kind = table == null ? null : table.getKeyType();
        if (kind == Integer.class || kind == int.class) {
            throw new IllegalStateException("the key of " + entity.getClass().getName() + " is an " + kind.getSimpleName()
                    + ", in which an id of 63 bits is cut: declare it as Long");
        }
        return ids.next();
    }
}
