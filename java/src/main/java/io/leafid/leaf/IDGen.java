package io.leafid.leaf;

import io.leafid.leaf.common.Result;

/** The interface that Leaf gives to Java, for code that is written for it: only its imports change. */
public interface IDGen {
    /** The next id of this key, or why there is none. */
    Result get(String key);

    /** True: what {@link LeafIDGen} stands for is open. */
    boolean init();
}
