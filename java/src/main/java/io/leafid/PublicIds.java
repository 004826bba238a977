package io.leafid;

/** Ids encrypted one to one to other numbers of 63 bits, for those who shall learn nothing from an id: docs/PUBLIC-IDS.md. */
public final class PublicIds {
    static {
        Native.load();
    }

    private final long handle;

    /**
     * @param key where its hexadecimal digits are: {@code "env:NAME"} or {@code "file:PATH"}. No error shows a key
     * @param version of the key, 0 to 31. A text begins with it
     * @param others keys that decrypt only, each followed by its version
     * @throws LeafidException {@code invalid_argument}
     */
    public PublicIds(String key, int version, String... others) {
        int count = others == null ? 0 : others.length;
        String[] keys = new String[2 + count];
        keys[0] = key;
        keys[1] = Integer.toString(version);
        if (count > 0) System.arraycopy(others, 0, keys, 2, count);
        long own = open(keys);
        handle = own;
        Cleanup.register(this, () -> free(own));
    }

    /** The number that stands for an id. */
    public long encrypt(long id) {
        return encrypt(handle, id);
    }

    /** The id of a number that {@link #encrypt} made with the key of this version. */
    public long decrypt(long publicId, int version) {
        return decrypt(handle, publicId, version);
    }

    /** The text that stands for an id, in {@code base32} or {@code base62}. */
    public String format(long id, String form) {
        return format(handle, id, form);
    }

    /** The id of such a text, with the key of its version. */
    public long parse(String text, String form) {
        return parse(handle, text, form);
    }

    private static native long open(String[] keys);

    private static native void free(long handle);

    private native long encrypt(long handle, long id);

    private native long decrypt(long handle, long publicId, long version);

    private native String format(long handle, long id, String form);

    private native long parse(long handle, String text, String form);
}
