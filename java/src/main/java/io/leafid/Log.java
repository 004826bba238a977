package io.leafid;

import java.util.function.BiConsumer;
import java.util.logging.Level;
import java.util.logging.Logger;

/** leafid's log: that of SLF4J if it is there, else java.util.logging; the logger's name is {@code io.leafid}. */
final class Log {
    private static final BiConsumer<String, String> SINK = sink();

    private Log() {}

    private static BiConsumer<String, String> sink() {
        try {
            Class.forName("org.slf4j.LoggerFactory", false, Log.class.getClassLoader());
            return new Slf4j();
        } catch (ClassNotFoundException | LinkageError none) {
            return new Jdk();
        }
    }

    static void write(String level, String message) {
        try {
            SINK.accept(level, message);
        } catch (RuntimeException itsOwn) {
            // That of an appender: nobody else can be told.
        }
    }

    private static final class Jdk implements BiConsumer<String, String> {
        @Override
        public void accept(String level, String message) {
            Level as = level.equals("error") ? Level.SEVERE
                    : level.equals("warn") ? Level.WARNING
                    : level.equals("info") ? Level.INFO : Level.FINE;
            Logger.getLogger("io.leafid").log(as, message);
        }
    }

    /** Loaded only where SLF4J is. */
    private static final class Slf4j implements BiConsumer<String, String> {
        private final org.slf4j.Logger logger = org.slf4j.LoggerFactory.getLogger("io.leafid");

        @Override
        public void accept(String level, String message) {
            if (level.equals("error")) logger.error(message);
            else if (level.equals("warn")) logger.warn(message);
            else if (level.equals("info")) logger.info(message);
            else logger.debug(message);
        }
    }
}
