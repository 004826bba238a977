package io.leafid;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/** Closes what is still open when the JVM ends in good order, so that a lease is free at once. */
final class AtExit {
    private static final Set<AutoCloseable> OPEN = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(AtExit::closeAll, "leafid-exit"));
    }

    private AtExit() {}

    static void close(AutoCloseable open) {
        OPEN.add(open);
    }

    static void closed(AutoCloseable closed) {
        OPEN.remove(closed);
        Leafid.closed(closed);
    }

    private static void closeAll() {
        List<AutoCloseable> open;
        synchronized (OPEN) {
            open = new ArrayList<>(OPEN);
        }
        for (AutoCloseable each : open) {
            try {
                each.close();
            } catch (Exception error) {
                Log.write("warn", "not closed in good order: " + error.getMessage());
            }
        }
    }
}
