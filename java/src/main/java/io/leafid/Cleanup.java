package io.leafid;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Frees what an object holds in native memory, once, when the object has gone. Java 8 has no Cleaner. */
final class Cleanup extends PhantomReference<Object> {
    private static final ReferenceQueue<Object> GONE = new ReferenceQueue<>();
    private static final Set<Cleanup> HELD = ConcurrentHashMap.newKeySet();

    static {
        Threads.daemon(new Thread("leafid-cleanup") {
            @Override
            public void run() {
                clean();
            }
        });
    }

    private final Runnable free;

    private Cleanup(Object object, Runnable free) {
        super(object, GONE);
        this.free = free;
    }

    /** {@code free} holds no reference to the object. */
    static void register(Object object, Runnable free) {
        HELD.add(new Cleanup(object, free));
    }

    private static void clean() {
        for (;;) {
            try {
                Cleanup gone = (Cleanup) GONE.remove();
                HELD.remove(gone);
                gone.free.run();
            } catch (Throwable failed) {
                Log.write("error", "what was collected could not be freed: " + failed);
            }
        }
    }
}
