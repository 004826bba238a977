package io.leafid.spring;

import io.leafid.Fetch;
import io.leafid.Leafid;
import io.leafid.LeafidException;
import io.leafid.PeerTimes;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.WorkerClaim;
import io.leafid.WorkerLeases;
import io.leafid.micrometer.LeafidMetrics;
import jakarta.persistence.EntityManagerFactory;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AbstractDependsOnBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * leafid in Spring Boot 3 and 4. The properties {@code leafid.*} are the options of docs/OPTIONS.md. With
 * {@code leafid.worker}, or a bean that leases worker ids, there is a {@link Snowflake}; with {@code leafid.servers}, or a
 * bean of {@link Fetch}, there are {@link Segments}.
 */
@AutoConfiguration
public class LeafidAutoConfiguration {
    private final Settings settings;

    /** With the properties of this environment. */
    public LeafidAutoConfiguration(ConfigurableEnvironment environment) {
        settings = new Settings(environment);
    }

    /** The generator, which is closed with the context. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @Conditional(Settings.OfSnowflake.class)
    public Snowflake leafidSnowflake(ObjectProvider<WorkerClaim> claims, ObjectProvider<WorkerLeases> leases,
            ObjectProvider<PeerTimes> peerTimes) {
        Snowflake.Builder options = Snowflake.builder();
        settings.into(options.kinds(), options::option);
        List<String> sources = new ArrayList<>();
        if (settings.isSet("worker")) sources.add("the property leafid.worker");
        claims.ifAvailable(claim -> {
            options.worker(claim);
            sources.add("a bean of WorkerClaim");
        });
        leases.ifAvailable(lease -> {
            options.worker(lease);
            sources.add("a bean of WorkerLeases");
        });
        if (sources.size() > 1) {
            throw new LeafidException("invalid_argument", "worker ids come from " + String.join(" and from ", sources)
                    + ": keep one of them");
        }
        peerTimes.ifAvailable(options::peerTimes);
        return options.open();
    }

    /** The segments, which are closed with the context. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @Conditional(Settings.OfSegments.class)
    public Segments leafidSegments(ObjectProvider<Fetch> fetch) {
        Segments.Builder options = Segments.builder();
        settings.into(options.kinds(), options::option);
        fetch.ifAvailable(options::fetch);
        return options.open();
    }

    /** For code that nothing hands one to, whoever made the bean. */
    @Bean
    static BeanPostProcessor leafidUsed() {
        return new BeanPostProcessor() {
            @Override
            public Object postProcessAfterInitialization(Object bean, String name) {
                if (bean instanceof Snowflake) Leafid.use((Snowflake) bean);
                if (bean instanceof Segments) Leafid.use((Segments) bean);
                return bean;
            }
        };
    }

    /** Entities with {@code @LeafId} may get ids while the context starts, and until it has closed. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = {"jakarta.persistence.EntityManagerFactory", "org.hibernate.annotations.IdGeneratorType"})
    static class Jpa {
        @Bean
        static AbstractDependsOnBeanFactoryPostProcessor leafidBeforeEntities() {
            return new AbstractDependsOnBeanFactoryPostProcessor(EntityManagerFactory.class, Snowflake.class, Segments.class) {};
        }
    }

    /** The metrics of docs/MONITORING.md. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "io.micrometer.core.instrument.binder.MeterBinder")
    static class Metrics {
        @Bean
        @ConditionalOnMissingBean
        LeafidMetrics leafidMetrics() {
            return new LeafidMetrics();
        }
    }

    /** {@code management.health.leafid.enabled=false} leaves it out. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
    @ConditionalOnProperty(name = "management.health.leafid.enabled", matchIfMissing = true)
    static class HealthOfBoot3 {
        @Bean
        @ConditionalOnMissingBean(name = "leafidHealthIndicator")
        org.springframework.boot.actuate.health.HealthIndicator leafidHealthIndicator(ObjectProvider<Snowflake> ids,
                ObjectProvider<Segments> segments) {
            return () -> {
                State state = new State(ids, segments, System.currentTimeMillis());
                return new org.springframework.boot.actuate.health.Health.Builder().status(state.status())
                        .withDetails(state.details()).build();
            };
        }
    }

    /** The same. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    @ConditionalOnProperty(name = "management.health.leafid.enabled", matchIfMissing = true)
    static class HealthOfBoot4 {
        @Bean
        @ConditionalOnMissingBean(name = "leafidHealthIndicator")
        org.springframework.boot.health.contributor.HealthIndicator leafidHealthIndicator(ObjectProvider<Snowflake> ids,
                ObjectProvider<Segments> segments) {
            return () -> {
                State state = new State(ids, segments, System.currentTimeMillis());
                return org.springframework.boot.health.contributor.Health.status(state.status())
                        .withDetails(state.details()).build();
            };
        }
    }
}
