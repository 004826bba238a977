// `chaos` in Java: as in C, with the same words and files. It does not fork; each kind of ids has a thread.

import io.leafid.LeafidException;
import io.leafid.Segments;
import io.leafid.Snowflake;
import io.leafid.Tag;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import sun.misc.Signal;

public final class Chaos {
    private static final long LONG_MS = 200;
    private static final Map<String, String> WORDS = new HashMap<>();
    private static final long PID = ProcessHandle.current().pid();
    private static FileChannel notes;
    private static volatile boolean ending;

    private static long nowMs() {
        return System.nanoTime() / 1_000_000;
    }

    /** How long this thread has waited for a processor. */
    private static long keptWaitingMs() throws IOException {
        return Long.parseLong(Files.readString(Path.of("/proc/thread-self/schedstat")).trim().split(" ")[1]) / 1_000_000;
    }

    private static void write(FileChannel file, ByteBuffer bytes) throws IOException {
        int length = bytes.remaining();
        if (file.write(bytes) != length) throw new IOException("a write was cut short");
    }

    private static void note(String what, String text) throws IOException {
        String line = nowMs() + " " + PID + " " + what + " " + text;
        line = line.substring(0, Math.min(line.length(), 1190)).replace('\n', ' ') + "\n";
        write(notes, ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
    }

    private static void rest(long micros) {
        LockSupport.parkNanos(micros * 1000);
    }

    /** Ids of one kind, made by one thread. */
    private static final class Line {
        private final String kind;
        private final LongSupplier takeOne;
        private final IntFunction<long[]> take;
        private FileChannel file;
        private String code = "";
        private long lastMs;
        private long sampledMs;
        private long waitedMs;

        Line(String kind, LongSupplier takeOne, IntFunction<long[]> take) {
            this.kind = kind;
            this.takeOne = takeOne;
            this.take = take;
        }

        void openFile(int number, boolean isAlone) throws IOException {
            String order = kind.equals("flakes") && isAlone ? "rising" : "mixed";
            Path path = Path.of(WORDS.get("out"), kind, order + "-" + WORDS.get("run") + "-" + PID + "-" + number);
            file = FileChannel.open(path, StandardOpenOption.APPEND, StandardOpenOption.CREATE_NEW);
        }

        boolean make(int n) throws IOException {
            long[] ids;
            try {
                ids = n == 1 ? new long[] {takeOne.getAsLong()} : take.apply(n);
            } catch (LeafidException error) {
                noteError(error);
                return false;
            }
            ByteBuffer bytes = ByteBuffer.allocate(8 * ids.length).order(ByteOrder.nativeOrder());
            bytes.asLongBuffer().put(ids);
            write(file, bytes);
            long now = nowMs();
            if (lastMs == 0) {
                waitedMs = keptWaitingMs();
                sampledMs = now;
            } else if (now - lastMs > LONG_MS || now - sampledMs > LONG_MS / 2) notePause(now);
            lastMs = now;
            code = "";
            return true;
        }

        /** It counts once until ids come again, or another one. */
        void noteError(LeafidException error) throws IOException {
            if (error.code().equals(code)) return;
            code = error.code();
            note("error", kind + " " + code + ": " + error.getMessage());
        }

        void notePause(long now) throws IOException {
            long waited = keptWaitingMs();
            if (now - lastMs > LONG_MS) {
                note("pause", kind + " " + lastMs + " " + now + " " + (waited - waitedMs) + " " + (code.isEmpty() ? "-" : code));
            }
            sampledMs = now;
            waitedMs = waited;
        }

        void keepMaking() {
            int[] counts = {1, 7, Integer.parseInt(WORDS.getOrDefault("batch", "64"))};
            long pauseUs = Long.parseLong(WORDS.getOrDefault("pause_us", "2000"));
            try {
                for (int turn = 0; !ending; turn++) rest(make(counts[turn % 3]) ? pauseUs : 20_000);
                if (lastMs != 0) notePause(nowMs());
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }

    /** Opens again and again: a refusal is no end. */
    private static <T> T opened(Supplier<T> open) throws IOException {
        Line line = new Line("opening", null, null);
        while (!ending) {
            try {
                return open.get();
            } catch (LeafidException error) {
                line.noteError(error);
                rest(50_000);
            }
        }
        return null;
    }

    private static boolean has(String word) {
        return !WORDS.getOrDefault(word, "").isEmpty();
    }

    public static void main(String[] given) throws Exception {
        for (String word : given) {
            String[] parts = word.split("=", 2);
            WORDS.put(parts[0], parts.length > 1 ? parts[1] : "");
        }
        // What fails on a thread ends all, as in the other languages.
        Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(3);
        });
        notes = FileChannel.open(Path.of(WORDS.get("notes")), StandardOpenOption.APPEND, StandardOpenOption.CREATE);
        Signal.handle(new Signal("TERM"), signal -> ending = true);
        int threads = Integer.parseInt(WORDS.getOrDefault("threads", "1"));
        List<Line> lines = new ArrayList<>();
        Snowflake flake = null;
        Segments segments = null;
        if (has("worker")) {
            long begun = nowMs();
            flake = opened(() -> Snowflake.builder().worker(WORDS.get("worker")).name(WORDS.get("name"))
                    .stateDir(WORDS.get("dir")).open());
            if (flake != null) {
                note("in", flake.workerId() + " " + (nowMs() - begun));
                for (int n = 0; n < Math.max(threads - 1, 1); n++) lines.add(new Line("flakes", flake::next, flake::take));
            }
        }
        if (has("tags")) {
            segments = opened(() -> Segments.builder().servers(WORDS.get("servers")).protocol("range").adaptive(false)
                    .name(WORDS.get("name")).stateDir(WORDS.get("dir")).open());
            for (String name : segments == null ? new String[0] : WORDS.get("tags").split(",")) {
                Tag tag = segments.tag(name);
                lines.add(new Line(name, tag::next, tag::take));
            }
        }
        List<Thread> makers = new ArrayList<>();
        for (Line line : lines) {
            line.openFile(makers.size(), threads == 1);
            makers.add(new Thread(line::keepMaking));
        }
        for (Thread maker : makers) maker.start();
        for (Thread maker : makers) maker.join();
        if (flake != null) flake.close();
        if (segments != null) segments.close();
        note("done", "");
    }
}
