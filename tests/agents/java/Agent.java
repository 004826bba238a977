// The agent in Java: `serve` without forks, and `stream`. ../../system/subjects.py lists its commands.

import io.leafid.LeafidException;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.SnowflakeStats;
import io.leafid.Tag;
import io.leafid.TagStats;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.logging.Logger;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

public final class Agent {
    private static final int BATCH = 512;
    /** The words that are no options. */
    private static final Set<String> OWN = Set.of("count", "threads", "batch", "method", "pause_us", "tag", "then");
    /** Held, for its settings go with it. */
    private static final Logger LOG = Logger.getLogger("io.leafid");
    private static final FileChannel OUT = new FileOutputStream(FileDescriptor.out).getChannel();
    /** By handle. */
    private static final Map<String, AutoCloseable> OPENED = new HashMap<>();

    private Agent() {}

    private static Map<String, String> read(List<String> words) {
        Map<String, String> given = new HashMap<>();
        for (String word : words) given.put(word.split("=", 2)[0], word.contains("=") ? word.split("=", 2)[1] : "");
        return given;
    }

    /** The name of an option, of that of Python. */
    static String camel(String name) {
        StringBuilder camel = new StringBuilder();
        for (String word : name.split("_")) {
            camel.append(camel.length() == 0 ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        return camel.toString();
    }

    private static String option(String name) {
        return name.equals("dir") ? "stateDir" : camel(name);
    }

    private static AutoCloseable open(Map<String, String> given) {
        if (given.containsKey("worker")) {
            Snowflake.Builder flake = Snowflake.builder();
            given.forEach((name, value) -> {
                if (!OWN.contains(name)) flake.option(option(name), value);
            });
            return flake.open();
        }
        Segments.Builder segments = Segments.builder();
        given.forEach((name, value) -> {
            switch (name) {
                case "servers" -> {
                    segments.servers(value.split(","));
                    if (!value.startsWith("file:")) segments.protocol(given.getOrDefault("protocol", "range"));
                }
                case "tags" -> {
                    for (String tag : value.split(",")) {
                        String[] parts = tag.split(":");
                        segments.tag(parts[0], Long.parseLong(parts[1]), Long.parseLong(parts[2]));
                    }
                }
                case "create" -> segments.create(true);
                case "keep" -> segments.keepUnused(true);
                case "adaptive" -> segments.adaptive(!value.equals("no"));
                case "protocol" -> {}
                default -> {
                    if (!OWN.contains(name)) segments.option(option(name), value);
                }
            }
        });
        return segments.open();
    }

    /** A snowflake or a tag. */
    private static long[] take(Object source, int count, String method) {
        long[] ids = new long[count];
        if (source instanceof Snowflake flake) {
            if (method.equals("fill")) flake.fill(ids);
            else if (method.equals("take")) ids = flake.take(count);
            else Arrays.setAll(ids, at -> flake.next());
        } else {
            Tag tag = (Tag) source;
            if (method.equals("fill")) tag.fill(ids);
            else if (method.equals("take")) ids = tag.take(count);
            else Arrays.setAll(ids, at -> tag.next());
        }
        return ids;
    }

    private static void rest(long micros) {
        LockSupport.parkNanos(micros * 1000);
    }

    /** At most as many as a pipe takes in one piece. */
    private static void put(long... ids) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * ids.length).order(ByteOrder.nativeOrder());
        bytes.asLongBuffer().put(ids);
        try {
            OUT.write(bytes);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static void issue(Object source, Map<String, String> given) {
        int batch = Math.min(Integer.parseInt(given.getOrDefault("batch", "" + BATCH)), BATCH);
        long count = Long.parseLong(given.getOrDefault("count", "0"));
        long pauseUs = Long.parseLong(given.getOrDefault("pause_us", "0"));
        for (long left = count == 0 ? Long.MAX_VALUE : count; left > 0; left -= batch) {
            put(take(source, (int) Math.min(left, batch), given.getOrDefault("method", "next")));
            if (pauseUs > 0) rest(pauseUs);
        }
    }

    private static void stream(Map<String, String> given) throws Exception {
        AutoCloseable opened = open(given);
        Object source = opened instanceof Segments segments ? segments.tag(given.getOrDefault("tag", "order")) : opened;
        put(take(source, 1, "next"));
        System.err.println("ready");
        List<Thread> threads = new ArrayList<>();
        for (int n = Integer.parseInt(given.getOrDefault("threads", "1")); n > 0; n--) {
            threads.add(new Thread(() -> issue(source, given)));
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
        switch (given.getOrDefault("then", "wait")) {
            case "wait" -> Thread.sleep(Long.MAX_VALUE);
            case "close" -> opened.close();
            default -> System.exit(0);
        }
    }

    private static String run(Object source, long ms, long pauseUs) {
        List<Long> ids = new ArrayList<>();
        long end = System.nanoTime() + ms * 1_000_000;
        long slowest = 0;
        boolean rising = true;
        while (System.nanoTime() < end) {
            long begun = System.nanoTime();
            long id = take(source, 1, "next")[0];
            slowest = Math.max(slowest, (System.nanoTime() - begun) / 1000);
            rising &= ids.isEmpty() || id > ids.get(ids.size() - 1);
            ids.add(id);
            rest(Math.max(pauseUs, 100));
        }
        return ids.size() + " " + slowest + " " + ids.get(0) + " " + ids.get(ids.size() - 1) + " " + rising;
    }

    private static String joined(long... numbers) {
        return LongStream.of(numbers).mapToObj(Long::toString).collect(Collectors.joining(" "));
    }

    private static String stats(Object source) {
        if (source instanceof Snowflake flake) {
            SnowflakeStats stats = flake.stats();
            return joined(stats.reservedUntilMs(), stats.leadMs(), stats.renewals(), stats.renewalFailures());
        }
        TagStats stats = ((Tag) source).stats();
        String numbers = joined(stats.left(), stats.fetches(), stats.failures(), stats.waits(), stats.step());
        return numbers + " " + (stats.lastError() == null ? "" : stats.lastError());
    }

    private static String obey(List<String> words) throws Exception {
        String command = words.get(0);
        String handle = words.get(1);
        if (command.equals("open")) {
            AutoCloseable opened = open(read(words.subList(2, words.size())));
            OPENED.put(handle, opened);
            return opened instanceof Snowflake flake ? "" + flake.workerId() : "";
        }
        AutoCloseable opened = OPENED.get(handle);
        if (command.equals("close")) {
            opened.close();
            return "";
        }
        Object source = opened instanceof Segments segments ? segments.tag(words.get(2)) : opened;
        List<String> rest = words.subList(source == opened ? 2 : 3, words.size());
        int number = rest.isEmpty() ? 1 : Integer.parseInt(rest.get(0));
        return switch (command) {
            case "next", "take" -> joined(take(source, number, command));
            case "run" -> run(source, number, rest.size() < 2 ? 100 : Long.parseLong(rest.get(1)));
            case "stats" -> stats(source);
            default -> throw new IllegalArgumentException("unknown command " + words);
        };
    }

    private static void serve() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null && !line.equals("quit"); ) {
            long begun = System.nanoTime();
            String kind = "ok";
            String answer;
            try {
                answer = obey(List.of(line.split(" ")));
            } catch (LeafidException error) {
                kind = "err";
                answer = error.code() + ": " + error.getMessage().replace('\n', ' ');
            }
            System.out.println(kind + " " + (System.nanoTime() - begun) / 1000 + " " + answer);
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<String> words = List.of(arguments).subList(1, arguments.length);
        if (arguments[0].equals("chaos")) {
            Chaos.main(words.toArray(new String[0]));
            return;
        }
        // Standard error is read at the end: warnings would fill it, and then block.
        LOG.setUseParentHandlers(false);
        // What fails on a thread ends all, as in the other languages.
        Thread.setDefaultUncaughtExceptionHandler((thread, failed) -> {
            if (failed instanceof LeafidException ours) System.err.println("error " + ours.code() + ": " + ours.getMessage());
            else failed.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        if (arguments[0].equals("stream")) stream(read(words));
        else serve();
    }
}
