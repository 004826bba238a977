package io.leafid.leaf;

/** How a call of {@link IDGen#get} ended. */
public enum Status {
    /** With an id. */
    SUCCESS,
    /** Without one. */
    EXCEPTION
}
