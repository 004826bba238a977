package io.leafid.spring;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.leafid.Snowflake;
import io.leafid.mybatis.LeafIdentifierGenerator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** {@code IdType.ASSIGN_ID} of MyBatis-Plus, where there is a {@link Snowflake}. */
@AutoConfiguration(after = LeafidAutoConfiguration.class)
@ConditionalOnClass(IdentifierGenerator.class)
class MyBatisPlusAutoConfiguration {
    @Bean
    @ConditionalOnSingleCandidate(Snowflake.class)
    @ConditionalOnMissingBean
    IdentifierGenerator leafidIdentifierGenerator(Snowflake ids) {
        return new LeafIdentifierGenerator(ids);
    }
}
