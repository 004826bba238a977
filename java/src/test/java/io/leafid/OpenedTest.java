package io.leafid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OpenedTest {
    /** One that there was no memory to keep. */
    private static final class Unkept extends Opened {
        Unkept(AtomicInteger freed) {
            super(new Ends() {
                @Override
                public void close(long handle) {}

                @Override
                public void free(long handle) {
                    freed.incrementAndGet();
                }
            });
        }

        @Override
        long begin() {
            return 1;
        }

        @Override
        String space() {
            return "none";
        }

        /** The set of all that is open asks for it. */
        @Override
        public int hashCode() {
            throw new OutOfMemoryError("for an entry");
        }
    }

    @Test
    void whatCouldNotBeKeptIsFreedOnce() throws Exception {
        AtomicInteger freed = new AtomicInteger();
        WeakReference<Opened> gone = failed(freed);
        while (gone.get() != null) {
            System.gc();
            Thread.sleep(1);
        }
        // It is cleaned up before what goes after it.
        CountDownLatch next = new CountDownLatch(1);
        Cleanup.register(new Object(), next::countDown);
        while (next.getCount() > 0) {
            System.gc();
            Thread.sleep(1);
        }
        assertEquals(1, freed.get());
    }

    private static WeakReference<Opened> failed(AtomicInteger freed) {
        Opened unkept = new Unkept(freed);
        assertThrows(OutOfMemoryError.class, unkept::start);
        return new WeakReference<>(unkept);
    }
}
