package io.leafid.leaf.common;

/** How a call of {@link io.leafid.leaf.IDGen#get} ended. */
public enum Status {
    /** With an id. */
    SUCCESS,
    /** Without one. */
    EXCEPTION
}
