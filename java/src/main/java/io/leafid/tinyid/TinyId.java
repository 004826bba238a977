package io.leafid.tinyid;

import io.leafid.Leafid;
import io.leafid.Segments;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The calls of tinyid's client, for code that is written for it: only the import changes. Its file
 * {@code tinyid_client.properties} is read from the class path at the first call, and may have options of leafid, too:
 * {@code leafid.stateDir=/var/lib/orders}. Without that file, the ids are those of {@link Leafid#segments}.
 */
public final class TinyId {
    private static final String FILE = "tinyid_client.properties";
    /** An opening waits, and a monitor would hold the carrier of a virtual thread. */
    private static final ReentrantLock OPENING = new ReentrantLock();
    private static volatile Segments own;

    private TinyId() {}

    /**
     * The next id.
     *
     * @throws io.leafid.LeafidException as {@link io.leafid.Tag#next()}
     * @throws IllegalArgumentException for null, as of tinyid's client, and for a file without a server
     * @throws IllegalStateException without the file, as {@link Leafid#segments}
     */
    public static Long nextId(String bizType) {
        return segments().tag(named(bizType)).next();
    }

    /** So many ids; one for null. */
    public static List<Long> nextId(String bizType, Integer batchSize) {
        List<Long> ids = new ArrayList<>();
        for (long id : segments().tag(named(bizType)).take(batchSize == null ? 1 : batchSize)) ids.add(id);
        return ids;
    }

    private static String named(String bizType) {
        if (bizType == null) throw new IllegalArgumentException("bizType is null: name the counter");
        return bizType;
    }

    private static Segments segments() {
        if (own != null) return own;
        OPENING.lock();
        try {
            return own != null ? own : opened();
        } finally {
            OPENING.unlock();
        }
    }

    private static Segments opened() {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        try (InputStream file = (loader == null ? TinyId.class.getClassLoader() : loader).getResourceAsStream(FILE)) {
            if (file == null) return Leafid.segments();
            Properties settings = new Properties();
            settings.load(file);
            own = open(settings);
            return own;
        } catch (IOException error) {
            throw new UncheckedIOException(FILE + " cannot be read", error);
        }
    }

    private static Segments open(Properties settings) {
        List<String> servers = new ArrayList<>();
        for (String server : settings.getProperty("tinyid.server", "").split(",")) {
            if (!server.trim().isEmpty()) servers.add("http://" + server.trim());
        }
        if (servers.isEmpty()) throw new IllegalArgumentException(FILE + " has no tinyid.server: name one, such as localhost:9999");
        Segments.Builder options = Segments.builder().protocol("tinyid").servers(servers);
        // The words of that file, and the options that they are.
        String[][] known = {{"token", "token"}, {"readTimeout", "requestTimeoutMs"}, {"connectTimeout", "connectTimeoutMs"}};
        for (String[] each : known) options.option(each[1], settings.getProperty("tinyid." + each[0]));
        for (String name : settings.stringPropertyNames()) {
            if (!name.startsWith("leafid.")) continue;
            String option = name.substring(7);
            boolean isList = option.equals("prewarm") || option.equals("servers");
            options.option(option, isList ? settings.getProperty(name).split(",") : new String[] {settings.getProperty(name)});
        }
        return options.open();
    }
}
