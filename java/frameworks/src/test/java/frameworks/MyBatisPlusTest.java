package frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.baomidou.mybatisplus.annotation.IdType;
import com.baomidou.mybatisplus.annotation.TableId;
import com.baomidou.mybatisplus.annotation.TableName;
import com.baomidou.mybatisplus.core.MybatisConfiguration;
import com.baomidou.mybatisplus.core.MybatisSqlSessionFactoryBuilder;
import com.baomidou.mybatisplus.core.config.GlobalConfig;
import com.baomidou.mybatisplus.core.mapper.BaseMapper;
import com.baomidou.mybatisplus.core.toolkit.GlobalConfigUtils;
import io.leafid.Snowflake;
import io.leafid.mybatis.LeafIdentifierGenerator;
import java.nio.file.Path;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MyBatisPlusTest {
    @TempDir
    Path dir;

    @TableName("orders")
    public static class Order {
        @TableId(type = IdType.ASSIGN_ID)
        public Long id;
        public String note;

        public Long getId() {
            return id;
        }

        public String getNote() {
            return note;
        }
    }

    @TableName("small")
    public static class Small {
        @TableId(type = IdType.ASSIGN_ID)
        public Integer id;
    }

    public interface Smalls extends BaseMapper<Small> {}

    public interface Orders extends BaseMapper<Order> {}

    @Test
    void rowsGetItsIds() throws Exception {
        JdbcDataSource database = new JdbcDataSource();
        database.setURL("jdbc:h2:mem:orders;DB_CLOSE_DELAY=-1");
        try (var connection = database.getConnection(); var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, note VARCHAR(9))");
        }
        try (Snowflake ids = Snowflake.builder().worker(9).stateDir(dir.toString()).timeoutMs(60_000).open()) {
            MybatisConfiguration configuration = new MybatisConfiguration(
                    new Environment("test", new JdbcTransactionFactory(), database));
            GlobalConfig global = GlobalConfigUtils.getGlobalConfig(configuration);
            global.setIdentifierGenerator(new LeafIdentifierGenerator(ids));
            configuration.addMapper(Orders.class);
            configuration.addMapper(Smalls.class);
            try (SqlSession session = new MybatisSqlSessionFactoryBuilder().build(configuration).openSession(true)) {
                Order order = new Order();
                order.note = "one";
                session.getMapper(Orders.class).insert(order);
                assertEquals(9, ids.layout().decode(order.id).workerId());
                assertEquals("one", session.getMapper(Orders.class).selectById(order.id).note);
                assertTrue(ids.next() > order.id);
                // 32 bits of an id come again.
                Exception refused = assertThrows(Exception.class, () -> session.getMapper(Smalls.class).insert(new Small()));
                assertTrue(refused.toString().contains("declare it as Long"), refused.toString());
            }
        }
    }
}
