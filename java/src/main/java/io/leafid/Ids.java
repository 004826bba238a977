package io.leafid;

import java.util.UUID;

/** Ids as text: {@code decimal}, {@code base32}, {@code base62} or {@code uuid}. */
public final class Ids {
    static {
        Native.load();
    }

    private Ids() {}

    /**
     * An id as text.
     *
     * @throws LeafidException {@code invalid_argument}
     */
    public static String format(long id, String form) {
        return format0(id, form);
    }

    /**
     * The id of such a text.
     *
     * @throws LeafidException {@code invalid_argument}
     */
    public static long parse(String text, String form) {
        return parse0(text, form);
    }

    /** The UUID (version 8) that has this id, for columns of that type. It sorts as the id does. */
    public static UUID toUuid(long id) {
        return UUID.fromString(format0(id, "uuid"));
    }

    /**
     * The id of such a UUID.
     *
     * @throws LeafidException {@code invalid_argument}
     */
    public static long fromUuid(UUID uuid) {
        return parse0(uuid == null ? null : uuid.toString(), "uuid");
    }

    private static native String format0(long id, String form);

    private static native long parse0(String text, String form);
}
