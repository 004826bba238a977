package io.leafid;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.function.Executable;

final class Support {
    private Support() {}

    /** Another copy of the classes, which has a native library of its own: another process, as it were. It has no SLF4J. */
    static final class Classes implements AutoCloseable {
        private final URLClassLoader loader;

        Classes() {
            URL[] classes = {Snowflake.class.getProtectionDomain().getCodeSource().getLocation()};
            loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
        }

        /** A snowflake or segments. Each option is its name and its values. */
        AutoCloseable open(Class<?> ours, String[]... options) {
            try {
                Class<?> theirs = loader.loadClass(ours.getName());
                assertNotEquals(ours, theirs);
                Object builder = theirs.getMethod("builder").invoke(null);
                for (String[] option : options) {
                    builder.getClass().getMethod("option", String.class, String[].class)
                            .invoke(builder, option[0], Arrays.copyOfRange(option, 1, option.length));
                }
                return (AutoCloseable) builder.getClass().getMethod("open").invoke(builder);
            } catch (ReflectiveOperationException error) {
                throw new AssertionError(error);
            }
        }

        @Override
        public void close() throws IOException {
            loader.close();
        }
    }

    /** Calls a method of an object of such a copy. */
    static Object call(Object object, String method, Object... arguments) {
        Class<?>[] kinds = Arrays.stream(arguments).map(Object::getClass).toArray(Class<?>[]::new);
        try {
            return object.getClass().getMethod(method, kinds).invoke(object, arguments);
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    /** A snowflake of such a copy. */
    static final class Copy implements AutoCloseable {
        private final Classes classes = new Classes();
        private final AutoCloseable flake;

        Copy(Path stateDir, String worker) {
            flake = classes.open(Snowflake.class, new String[] {"stateDir", stateDir.toString()}, new String[] {"worker", worker},
                    new String[] {"exclusiveRange", "true"}, new String[] {"timeoutMs", "60000"});
        }

        long next() {
            return (long) call(flake, "next");
        }

        int workerId() {
            return (int) call(flake, "workerId");
        }

        @Override
        public void close() {
            try {
                flake.close();
                classes.close();
            } catch (Exception error) {
                throw new AssertionError(error);
            }
        }
    }

    /** Until what is returned runs, a pool of leafid gets its threads here. It has none now. */
    static Runnable threads(ExecutorService pool, ThreadFactory made) throws InterruptedException {
        ThreadPoolExecutor threads = (ThreadPoolExecutor) pool;
        ThreadFactory before = threads.getThreadFactory();
        threads.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
        while (threads.getPoolSize() > 0) Thread.sleep(1);
        threads.setThreadFactory(made);
        return () -> {
            threads.setThreadFactory(before);
            threads.setKeepAliveTime(10, TimeUnit.SECONDS);
        };
    }

    /** The result of a future, or its failure. */
    static <T> T join(CompletableFuture<T> future) throws Throwable {
        try {
            return future.join();
        } catch (CompletionException failed) {
            throw failed.getCause();
        }
    }

    /** A file of the vectors that every language is held to. */
    static JsonNode vectors(String file) {
        try {
            return new ObjectMapper().readTree(new File("../tests/vectors", file));
        } catch (IOException error) {
            throw new AssertionError(error);
        }
    }

    static LeafidException refused(String code, Executable call) {
        LeafidException error = assertThrows(LeafidException.class, call);
        assertEquals(code, error.code(), error.getMessage());
        return error;
    }

    /** Runs a call in several threads at a time, and returns what each returned. */
    static <T> List<T> inThreads(int count, Callable<T> call) throws Exception {
        return in(Executors.newFixedThreadPool(count), count, call);
    }

    static <T> List<T> in(ExecutorService threads, int count, Callable<T> call) throws Exception {
        try {
            List<Future<T>> futures = new ArrayList<>();
            for (int at = 0; at < count; at++) futures.add(threads.submit(call));
            List<T> results = new ArrayList<>();
            for (Future<T> future : futures) results.add(future.get());
            return results;
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception ? (Exception) failed.getCause() : failed;
        } finally {
            threads.shutdown();
        }
    }

    /** Fails for ids that came twice, and for those of one list that do not increase. */
    static void unique(List<long[]> lists) {
        long count = 0;
        for (long[] list : lists) {
            for (int at = 1; at < list.length; at++) {
                if (list[at] <= list[at - 1]) throw new AssertionError(list[at] + " after " + list[at - 1]);
            }
            count += list.length;
        }
        long distinct = lists.stream().flatMapToLong(java.util.Arrays::stream).distinct().count();
        assertEquals(count, distinct, "ids that came twice");
    }
}
