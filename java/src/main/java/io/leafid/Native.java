package io.leafid;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** What the native library has for this program, in order, and the thread that takes it. */
final class Native {
    /** That of leafid: a program may have put these classes into a jar of its own, whose manifest has another. */
    private static final String VERSION = "0.1.0";

    private static final AtomicLong NUMBERS = new AtomicLong();
    /** Calls that wait for ids, by number. */
    private static final Map<Long, Runnable> WAITING = new ConcurrentHashMap<>();
    /** The user's objects that leafid calls, by number. */
    private static final Map<Long, UserObject> OBJECTS = new ConcurrentHashMap<>();

    static {
        Library.load();
        if (!VERSION.equals(version())) {
            throw new UnsatisfiedLinkError("the native library is of leafid " + version() + ", and its classes are of " + VERSION
                    + ": both must be of one version; -Dleafid.library names the library");
        }
        listen();
        Threads.daemon(new Thread("leafid-events") {
            @Override
            public void run() {
                takeEvents();
            }
        });
    }

    /** Writes the log; it begins with the first line. The thread of the events alone uses this. */
    private static Thread log;

    private Native() {}

    /** Loads the library. */
    static void load() {}

    static long number() {
        return NUMBERS.incrementAndGet();
    }

    /** {@code look} runs when the native side says that this call should look again. */
    static void waits(long number, Runnable look) {
        WAITING.put(number, look);
    }

    static void rests(long number) {
        WAITING.remove(number);
    }

    /** The number of a user's object, until the native side says that it is gone; 0 for null. */
    static long keep(UserObject object) {
        if (object == null) return 0;
        long number = number();
        OBJECTS.put(number, object);
        return number;
    }

    private static void takeEvents() {
        for (;;) {
            try {
                handle(takeEvent());
            } catch (Throwable failed) {
                lost(failed);
            }
        }
    }

    /** An event could not be handled, such as for want of memory. It may have been that of any call, so each looks again. */
    static void lost(Throwable failed) {
        try {
            for (Runnable look : WAITING.values()) {
                try {
                    look.run();
                } catch (Throwable again) {
                    // The others look all the same.
                }
            }
            Threads.CALLBACKS.execute(() -> Log.write("error", "an event was lost: " + failed));
        } catch (Throwable again) {
            // It could not even be said: the next event is another one.
        }
    }

    /** Nothing of a user's runs here: each call that waits would wait for it. */
    private static void handle(String[] event) {
        if (event[0].equals("log")) {
            if (log == null) log = Threads.daemon(new Thread("leafid-log") {
                @Override
                public void run() {
                    takeLines();
                }
            });
        } else if (event[0].equals("wake")) {
            Runnable look = WAITING.get(Long.parseLong(event[1]));
            if (look != null) look.run();
        } else if (event[0].equals("gone")) {
            OBJECTS.remove(Long.parseLong(event[1]));
        } else {
            ask(Long.parseLong(event[1]), event);
        }
    }

    private static void ask(long ticket, String[] event) {
        try {
            OBJECTS.get(Long.parseLong(event[2])).ask(ticket, event);
        } catch (Throwable failed) {
            // A thread of the native side waits for it.
            answer(ticket, null, "it could not be asked", null);
            throw failed;
        }
    }

    /** An appender may block, and may ask for an id. */
    private static void takeLines() {
        for (;;) {
            try {
                String[] line = takeLine();
                Log.write(line[0], line[1]);
            } catch (Throwable failed) {
                // For want of memory, or that of an appender: the next line is another one.
            }
        }
    }

    /** Refuses a number of ids that no call can have, before there is an array of that length. */
    static void checkCount(int n) {
        if (n < 0 || n > 16_777_216) refuse("n", n);
    }

    /** Refuses a time-out that a user gives in place of that of the options. */
    static void checkTimeoutMs(long ms) {
        if (ms < 1 || ms > 3_600_000) refuse("timeout_ms", ms);
    }

    /** Throws {@code invalid_argument}, with the allowed values as all languages say them. */
    private static native void refuse(String name, long value);

    /** False for another text than a code. */
    static native boolean canRetry(String code);

    static native void listen();

    static native String[] takeEvent();

    static native String[] takeLine();

    static native void answer(long ticket, String[] values, String failed, String code);

    static native String[] options(boolean ofSegments);

    static native void forgetUnansweredClaims();

    static native String metrics();

    static native String version();

    static native long cli(String[] arguments);
}
