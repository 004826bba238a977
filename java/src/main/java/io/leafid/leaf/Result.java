package io.leafid.leaf;

import io.leafid.LeafidException;

/** What {@link IDGen#get} returns. */
public final class Result {
    private final long id;
    private final Status status;
    private final LeafidException error;

    Result(long id, Status status, LeafidException error) {
        this.id = id;
        this.status = status;
        this.error = error;
    }

    /** The id; as a Leaf's, -2 for a key that the source does not know, -3 where it gave no ids, and -1 for the rest. */
    public long getId() {
        return id;
    }

    /** How the call ended. */
    public Status getStatus() {
        return status;
    }

    /** Why there is no id; null with one. Leaf has no such method. */
    public LeafidException getError() {
        return error;
    }

    @Override
    public String toString() {
        return "Result{id=" + id + ", status=" + status + "}";
    }
}
