package io.leafid;

/** Returns worker ids. */
@FunctionalInterface
public interface WorkerClaim {
    /**
     * Called once for a process. What it throws becomes {@code worker_lost} with that text; a {@link LeafidException} keeps
     * its code.
     *
     * @param name the id space
     * @param previous the worker id that this generator held before; null at the first claim
     * @return an id that no other process on any host holds; null for none ({@code worker_in_use})
     */
    Long claim(String name, Long previous) throws Exception;
}
