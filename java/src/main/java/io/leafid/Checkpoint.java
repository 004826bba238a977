package io.leafid;

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
        Opened.beforeCheckpoint();
    }

    @Override
    public void afterRestore(Context<? extends Resource> context) {
        Opened.afterCheckpoint();
    }
}
