package frameworks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import io.leafid.ClaimRequest;
import io.leafid.Fetch;
import io.leafid.Leafid;
import io.leafid.LeafidException;
import io.leafid.Lease;
import io.leafid.Renewal;
import io.leafid.Segment;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.Tag;
import io.leafid.WorkerClaim;
import io.leafid.WorkerLeases;
import io.leafid.hibernate.LeafId;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** Whole programs, whose only configuration is properties. */
class SpringBootTest {
    @TempDir
    Path dir;

    @Entity(name = "orders")
    static class Order {
        @Id
        @LeafId
        Long id;
    }

    @Entity(name = "invoices")
    static class Invoice {
        @Id
        @LeafId(tag = "invoice")
        long id;
    }

    @Configuration
    @EnableAutoConfiguration
    static class App {}

    /** With a source of its own. */
    @Configuration
    @EnableAutoConfiguration
    static class WithFetch {
        private final AtomicLong counter = new AtomicLong(1);

        @Bean
        Fetch fetch() {
            return (tag, step, after) -> {
                if (tag.equals("unknown")) return null;
                if (tag.equals("broken")) throw new IllegalStateException("no database");
                long start = counter.getAndAdd(step);
                return new Segment(start, start + step);
            };
        }
    }

    /** With an id of its own. */
    @Configuration
    @EnableAutoConfiguration
    static class WithClaim {
        @Bean
        WorkerClaim claim() {
            return (name, previous) -> 8L;
        }
    }

    /** With two sources of ids. */
    @Configuration
    static class WithLeases extends WithClaim {
        @Bean
        WorkerLeases leases() {
            return new WorkerLeases() {
                @Override
                public Lease claim(ClaimRequest request) {
                    return new Lease(9, request.nowMs(), request.untilMs());
                }

                @Override
                public Renewal renew(Lease lease, long untilMs) {
                    return new Renewal(untilMs);
                }

                @Override
                public void release(Lease lease, long untilMs) {}
            };
        }
    }

    private ConfigurableApplicationContext run(Class<?> app, String... properties) {
        return run(app, Map.of(), properties);
    }

    /** With these variables in place of all others. */
    private ConfigurableApplicationContext run(Class<?> app, Map<String, Object> variables, String... properties) {
        List<String> arguments = new ArrayList<>(List.of("--leafid.state-dir=" + dir, "--leafid.timeout-ms=60000",
                "--spring.main.banner-mode=off", "--spring.jpa.hibernate.ddl-auto=create",
                "--management.endpoint.health.show-details=always", "--logging.level.root=warn"));
        for (String property : properties) arguments.add("--" + property);
        SpringApplication program = new SpringApplication(app);
        String name = StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME;
        program.addInitializers(context -> context.getEnvironment().getPropertySources()
                .replace(name, new SystemEnvironmentPropertySource(name, variables)));
        return program.run(arguments.toArray(new String[0]));
    }

    /** The endpoint has another package in each version of Spring Boot. */
    private static String health(ConfigurableApplicationContext context) throws ReflectiveOperationException {
        Object endpoint = context.getBean("healthEndpoint");
        Object health = endpoint.getClass().getMethod("healthForPath", String[].class)
                .invoke(endpoint, (Object) new String[] {"leafid"});
        Object status = health.getClass().getMethod("getStatus").invoke(health);
        return status + " " + health.getClass().getMethod("getDetails").invoke(health);
    }

    @Test
    void propertiesMakeASnowflakeThatTheOthersUse() throws Exception {
        Snowflake ids;
        try (ConfigurableApplicationContext context = run(WithFetch.class, "leafid.worker=7", "leafid.max-backwards-ms=4000",
                "leafid.step=50")) {
            ids = context.getBean(Snowflake.class);
            assertEquals(7, ids.workerId());
            assertEquals(ids, Leafid.snowflake());
            assertTrue(ids.stats().stateDir().startsWith(dir.toString()));
            long first = ids.next();
            Number second = context.getBean(IdentifierGenerator.class).nextId(null);
            EntityManager entities = context.getBean(EntityManagerFactory.class).createEntityManager();
            Order order = new Order();
            Invoice invoice = new Invoice();
            entities.getTransaction().begin();
            entities.persist(order);
            entities.persist(invoice);
            entities.getTransaction().commit();
            entities.clear();
            assertTrue(first < second.longValue() && second.longValue() < order.id, order.id + "");
            assertNotNull(entities.find(Order.class, order.id));
            assertNotNull(entities.find(Invoice.class, invoice.id));
            assertTrue(invoice.id >= 1 && invoice.id <= 50, invoice.id + "");
            entities.close();

            MeterRegistry meters = context.getBean(MeterRegistry.class);
            assertTrue(meters.get("leafid.snowflake.ids").tag("worker_id", "7").functionCounter().count() >= 3);
            assertTrue(health(context).startsWith("UP {workerId=7"), health(context));
        }
        assertEquals("closed", assertThrows(LeafidException.class, ids::next).code());
    }

    @Test
    void healthIsDownWhereATagHasNoIds() throws Exception {
        try (ConfigurableApplicationContext context = run(WithFetch.class)) {
            assertFalse(context.containsBean("leafidSnowflake"), "no worker is set");
            Segments segments = context.getBean(Segments.class);
            assertEquals(1, segments.tag("order").next(600_000));
            // Whoever can name a tag cannot take the program out of service.
            assertThrows(LeafidException.class, () -> segments.tag("unknown").next(600_000));
            assertTrue(health(context).startsWith("UP {tag "), health(context));
            Tag broken = segments.tag("broken");
            do assertThrows(LeafidException.class, () -> broken.next(50));
            while (broken.stats().lastError() == null);
            assertTrue(health(context).startsWith("DOWN {") && health(context).contains("no database"), health(context));
        }
    }

    @Test
    void listsMapsAndRefusalsAreThoseOfTheOptionTable() {
        try (ConfigurableApplicationContext context = run(App.class, "leafid.servers[0]=file:" + dir.resolve("counters"),
                "leafid.create=true", "leafid.tags.order.start=500", "leafid.tags.order.step=10")) {
            assertEquals(500, context.getBean(Segments.class).tag("order").next());
        }
        try (ConfigurableApplicationContext context = run(App.class, "leafid.servers=http://127.0.0.1:1,http://127.0.0.1:2",
                "leafid.headers.X-App=shop")) {
            assertEquals(2, context.getBean(Segments.class).stats().servers().size());
        }
        String refused = refusal("leafid.worker=7", "leafid.max-backwards-ms=soon");
        assertTrue(refused.contains("maxBackwardsMs is \"soon\""), refused);
        refused = refusal("leafid.worker=7", "leafid.wroker=8");
        assertTrue(refused.contains("leafid.wroker is set: leafid has no such property; it has leafid.adaptive, leafid.block"), refused);
    }

    @Test
    void theExampleOfTheDocumentationStarts() throws Exception {
        String docs = Files.readString(Path.of("../../docs/JAVA.md"));
        String example = docs.substring(docs.indexOf("```properties\n") + 14);
        example = example.substring(0, example.indexOf("```"));
        assertTrue(example.contains("leafid.worker=0-31\n") && example.contains("leafid.headers.X-App="), example);
        Path file = Files.writeString(dir.resolve("application.properties"), example);
        try (ConfigurableApplicationContext context = run(App.class, "spring.config.location=" + file.toUri(),
                "leafid.exclusive-range=true")) {
            assertTrue(context.getBean(Snowflake.class).workerId() <= 31);
            assertEquals(2, context.getBean(Segments.class).stats().servers().size());
        }
    }

    @Test
    void optionsOfServersAreForTheOneThatAsksThem() {
        String counters = "leafid.servers=file:" + dir.resolve("counters");
        String worker = "leafid.worker=http://127.0.0.1:1";
        // A lease server that is not there: its options were accepted.
        String refused = refusal(worker, "leafid.lazy=true", "leafid.connect-timeout-ms=0", counters, "leafid.create=true");
        assertTrue(refused.startsWith("connectTimeoutMs is 0; allowed: 1 to"), refused);
        try (ConfigurableApplicationContext context = run(App.class, worker, "leafid.lazy=true", "leafid.request-timeout-ms=500",
                "leafid.token=sesame", counters, "leafid.create=true")) {
            assertNotNull(context.getBean(Segments.class));
        }
        // Where none asks servers, they would have no effect.
        refused = refusal("leafid.worker=7", "leafid.token=sesame");
        assertTrue(refused.startsWith("token is set; allowed: only with the URL of a lease server as worker"), refused);
        refused = refusal("leafid.worker=7", counters, "leafid.create=true", "leafid.request-timeout-ms=500");
        assertTrue(refused.startsWith("requestTimeoutMs is set; allowed: only with"), refused);
    }

    /** Spring Boot takes LEAFID_TOKEN for leafid.token, but it is a variable: one that has no meaning is ignored. */
    @Test
    void variablesMeanWhatTheyMeanElsewhere() {
        Map<String, Object> variables = Map.of("LEAFID_TOKEN", "sesame", "LEAFID_CA_FILE", "/none", "LEAFID_SHARED_GROUP", "1",
                "LEAFID_MAX_BACKWARDS_MS", "4000", "LEAFID_WORKER", "7");
        try (ConfigurableApplicationContext context = run(App.class, variables)) {
            assertEquals(7, context.getBean(Snowflake.class).workerId());
        }
        String refused = refusal(Map.of("LEAFID_WORKER", "7", "LEAFID_MAX_BACKWARDS_MS", "soon"));
        assertTrue(refused.contains("maxBackwardsMs is \"soon\""), refused);
    }

    @Test
    void oneSourceGivesTheWorkerId() {
        String refused = refusal(WithClaim.class, Map.of(), "leafid.worker=0-31");
        assertEquals("worker ids come from the property leafid.worker and from a bean of WorkerClaim: keep one of them", refused);
        refused = refusal(WithLeases.class, Map.of());
        assertEquals("worker ids come from a bean of WorkerClaim and from a bean of WorkerLeases: keep one of them", refused);
        // A variable is for programs that say nothing else.
        try (ConfigurableApplicationContext context = run(WithClaim.class, Map.of("LEAFID_WORKER", "7"))) {
            assertEquals(8, context.getBean(Snowflake.class).workerId());
        }
        // As a placeholder of a variable that is not set.
        try (ConfigurableApplicationContext context = run(WithClaim.class, Map.of(), "leafid.worker=${LEAFID_ORDERS_WORKER:}")) {
            assertEquals(8, context.getBean(Snowflake.class).workerId());
        }
    }

    private String refusal(String... properties) {
        return refusal(Map.of(), properties);
    }

    private String refusal(Map<String, Object> variables, String... properties) {
        return refusal(App.class, variables, properties);
    }

    private String refusal(Class<?> app, Map<String, Object> variables, String... properties) {
        Throwable error = assertThrows(Exception.class, () -> run(app, variables, properties));
        while (error.getCause() != null) error = error.getCause();
        return error.getMessage();
    }
}
