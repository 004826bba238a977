package simulated.crac;

/** A context without a JVM that makes checkpoints: org.crac finds it by a property, which Maven sets for the tests. */
public final class Core {
    private static final Context<Resource> CONTEXT = new Context<>();

    private Core() {}

    public static Context<Resource> getGlobalContext() {
        return CONTEXT;
    }

    /** As a JVM that is copied, and goes on as the copy: {@code meanwhile} is between both. */
    public static void checkpointRestore(Runnable meanwhile) throws Exception {
        for (Resource each : CONTEXT.resources) each.beforeCheckpoint(CONTEXT);
        meanwhile.run();
        for (Resource each : CONTEXT.resources) each.afterRestore(CONTEXT);
    }

    public static void checkpointRestore() throws CheckpointException, RestoreException {
        throw new CheckpointException();
    }
}

final class CheckpointException extends Exception {
    private static final long serialVersionUID = 1;
}

final class RestoreException extends Exception {
    private static final long serialVersionUID = 1;
}
