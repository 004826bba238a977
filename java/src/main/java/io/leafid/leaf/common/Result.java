package io.leafid.leaf.common;

import io.leafid.LeafidException;
import io.leafid.leaf.IDGen;

/** What {@link IDGen#get} returns. */
public class Result {
    private long id;
    private Status status;
    private LeafidException error;

    /** For code that sets both. */
    public Result() {}

    /** As an {@link IDGen} of your own returns it. */
    public Result(long id, Status status) {
        this.id = id;
        this.status = status;
    }

    /** With the reason of a failure. Leaf has no such constructor. */
    public Result(long id, Status status, LeafidException error) {
        this(id, status);
        this.error = error;
    }

    /** The id; as a Leaf's, -2 for a key that the source does not know, -3 where it gave no ids, and -1 for the rest. */
    public long getId() {
        return id;
    }

    /** Another id. */
    public void setId(long id) {
        this.id = id;
    }

    /** How the call ended. */
    public Status getStatus() {
        return status;
    }

    /** Another end. */
    public void setStatus(Status status) {
        this.status = status;
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
