package io.leafid;

import java.util.function.Consumer;
import org.crac.Context;
import org.crac.Core;
import org.crac.Resource;

/** Closes what is open before a checkpoint, and opens it after. It is loaded only where org.crac is. */
final class Checkpoint implements Resource {
    /** A context holds it weakly. */
    private static final Checkpoint OWN = new Checkpoint();

    private Checkpoint() {}

    static void register() {
        Core.getGlobalContext().register(OWN);
    }

    @Override
    public void beforeCheckpoint(Context<? extends Resource> context) {
        all(Opened::pause);
    }

    @Override
    public void afterRestore(Context<? extends Resource> context) {
        all(each -> {
            // Others were opened in between.
            if (each.isPaused) each.resume();
        });
    }

    /** Each is tried, and then the first failure thrown. */
    private static void all(Consumer<Opened> work) {
        RuntimeException failed = null;
        for (Opened each : Opened.all()) {
            try {
                work.accept(each);
            } catch (RuntimeException error) {
                if (failed == null) failed = error;
                else failed.addSuppressed(error);
            }
        }
        if (failed != null) throw failed;
    }
}
