package io.leafid;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * What the builders of {@link Snowflake} and {@link Segments} share. docs/OPTIONS.md describes every option. An option
 * that is not set, or set to null, has its default.
 */
abstract class Options<B extends Options<B>> {
    private final Map<String, String[]> given = new LinkedHashMap<>();
    Executor executor;

    Options() {}

    @SuppressWarnings("unchecked")
    private B self() {
        return (B) this;
    }

    /**
     * An option by its name, as in a file of properties: {@code option("stateDir", "/var/lib/orders")}. A map of headers is
     * given as names and texts in turn.
     */
    public B option(String name, String... values) {
        if (values == null || values.length == 1 && values[0] == null) given.remove(name);
        else given.put(name, values.clone());
        return self();
    }

    /** Each option by its name, with its kind, such as {@code int} or {@code headers}: for those who read settings. */
    public Map<String, String> kinds() {
        String[] known = Native.options(this instanceof Segments.Builder);
        Map<String, String> kinds = new LinkedHashMap<>();
        for (int at = 0; at < known.length; at += 2) kinds.put(known[at], known[at + 1]);
        return kinds;
    }

    B set(String name, Object value) {
        return option(name, value == null ? null : value.toString());
    }

    /** The names and values, each a row. */
    String[][] rows() {
        List<String[]> rows = new ArrayList<>();
        for (Map.Entry<String, String[]> each : given.entrySet()) {
            String[] values = each.getValue();
            String[] row = new String[1 + values.length];
            row[0] = each.getKey();
            System.arraycopy(values, 0, row, 1, values.length);
            rows.add(row);
        }
        return rows.toArray(new String[0][]);
    }

    static String[] array(Collection<String> texts) {
        return texts == null ? null : texts.toArray(new String[0]);
    }

    /** Where leafid calls the user's objects; not on the thread that hands them over. Default: threads of leafid. */
    public B executor(Executor executor) {
        this.executor = executor;
        return self();
    }

    /** The id space: worker ids are unique within it. */
    public B name(String name) {
        return set("name", name);
    }

    /** The directory of the records, created if missing. */
    public B stateDir(String path) {
        return set("stateDir", path);
    }

    /** False: store nothing. */
    public B persist(boolean persist) {
        return set("persist", persist);
    }

    /** True: {@code stateDir} may be on a network file system. */
    public B sharedFs(boolean shared) {
        return set("sharedFs", shared);
    }

    /** True: the members of one group share {@code stateDir}. */
    public B sharedGroup(boolean shared) {
        return set("sharedGroup", shared);
    }

    /** The longest wait of a call for its next id, milliseconds. */
    public B timeoutMs(long ms) {
        return set("timeoutMs", ms);
    }

    /** Sent to servers as {@code Authorization: Bearer …}. No message shows it. */
    public B token(String token) {
        return set("token", token);
    }

    /** More headers that are sent to servers. */
    public B headers(Map<String, String> headers) {
        List<String> texts = new ArrayList<>();
        if (headers != null) headers.forEach((name, text) -> {
            texts.add(name);
            texts.add(text);
        });
        return option("headers", headers == null ? null : array(texts));
    }

    /** A PEM file of certificate authorities for servers, in addition to those of the system. */
    public B caFile(String path) {
        return set("caFile", path);
    }

    /** The longest duration of a request, over all servers, milliseconds. */
    public B requestTimeoutMs(long ms) {
        return set("requestTimeoutMs", ms);
    }

    /** The longest duration of a connection to a server, milliseconds. */
    public B connectTimeoutMs(long ms) {
        return set("connectTimeoutMs", ms);
    }
}
