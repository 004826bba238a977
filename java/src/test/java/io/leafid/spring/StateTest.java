package io.leafid.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.leafid.Fetch;
import io.leafid.LeafidException;
import io.leafid.Segment;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.Tag;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.support.StaticListableBeanFactory;

/** What is down gets no calls from a load balancer: looks alone must show that it is up again. */
class StateTest {
    @TempDir
    Path dir;

    /** With this bean; at a time at which all spans have ended. */
    private static String look(Object bean) {
        StaticListableBeanFactory beans = new StaticListableBeanFactory();
        beans.addBean("bean", bean);
        return new State(beans.getBeanProvider(Snowflake.class), beans.getBeanProvider(Segments.class), Long.MAX_VALUE).status();
    }

    private static void lookUntilUp(Object bean) {
        while (look(bean).equals("DOWN")) Thread.onSpinWait();
    }

    /** With this prefetch it is fetched for calls alone. */
    @Test
    void aTagIsUpWhenItsSourceIsBack() {
        AtomicBoolean isAway = new AtomicBoolean();
        Fetch fetch = (tag, step, after) -> {
            if (isAway.get()) throw new IllegalStateException("no database");
            return new Segment(after + 1, after + 1 + step);
        };
        try (Segments segments = Segments.builder().stateDir(dir.toString()).fetch(fetch).step(1).adaptive(false).prefetch(100)
                .timeoutMs(600_000).open()) {
            Tag tag = segments.tag("order");
            tag.next();
            assertEquals("UP", look(segments));
            isAway.set(true);
            do assertThrows(LeafidException.class, () -> tag.next(50));
            while (tag.stats().lastError() == null);
            for (int at = 0; at < 3; at++) assertEquals("DOWN", look(segments));
            isAway.set(false);
            lookUntilUp(segments);
            tag.next();
        }
    }

    /** One whose record cannot be written rests until a call wants an id. */
    @Test
    void aSnowflakeIsUpWhenItsDirectoryIsBack() throws IOException {
        try (Snowflake ids = Snowflake.builder().stateDir(dir.toString()).worker(7).timeoutMs(60_000).open()) {
            assertEquals("UP", look(ids));
            Path records = dir.resolve("default");
            Files.move(records, dir.resolve("away"));
            while (ids.stats().lastError() == null) {
                try {
                    ids.next();
                } catch (LeafidException error) {
                    assertEquals("worker_lost", error.code());
                }
            }
            for (int at = 0; at < 3; at++) assertEquals("DOWN", look(ids));
            Files.move(dir.resolve("away"), records);
            lookUntilUp(ids);
            ids.next();
        }
    }
}
