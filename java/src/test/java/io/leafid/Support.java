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
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.function.Executable;

final class Support {
    private Support() {}

    /** A snowflake of another copy of the classes, which has a native library of its own: another process, as it were. */
    static final class Copy implements AutoCloseable {
        private final URLClassLoader loader;
        private final AutoCloseable flake;

        Copy(Path stateDir, String worker) {
            URL[] classes = {Snowflake.class.getProtectionDomain().getCodeSource().getLocation()};
            loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
            try {
                Class<?> theirs = loader.loadClass("io.leafid.Snowflake");
                assertNotEquals(Snowflake.class, theirs);
                Object builder = theirs.getMethod("builder").invoke(null);
                String[][] options = {{"stateDir", stateDir.toString()}, {"worker", worker}, {"exclusiveRange", "true"}};
                for (String[] option : options) {
                    builder.getClass().getMethod("option", String.class, String[].class)
                            .invoke(builder, option[0], new String[] {option[1]});
                }
                flake = (AutoCloseable) builder.getClass().getMethod("open").invoke(builder);
            } catch (ReflectiveOperationException error) {
                throw new AssertionError(error);
            }
        }

        private Object call(String method) {
            try {
                return flake.getClass().getMethod(method).invoke(flake);
            } catch (ReflectiveOperationException error) {
                throw new AssertionError(error);
            }
        }

        long next() {
            return (long) call("next");
        }

        int workerId() {
            return (int) call("workerId");
        }

        @Override
        public void close() {
            try {
                flake.close();
                loader.close();
            } catch (Exception error) {
                throw new AssertionError(error);
            }
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
