package simulated.crac;

import java.util.ArrayList;
import java.util.List;

/** The resources that were registered. */
public final class Context<R extends Resource> implements Resource {
    final List<R> resources = new ArrayList<>();

    public void register(R resource) {
        resources.add(resource);
    }

    @Override
    public void beforeCheckpoint(Context<? extends Resource> context) {}

    @Override
    public void afterRestore(Context<? extends Resource> context) {}
}
