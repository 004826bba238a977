package io.leafid;

/** What belongs to the whole program. */
public final class Leafid {
    private Leafid() {}

    /** The version of leafid. */
    public static String version() {
        return Native.version();
    }

    /**
     * The statistics of everything open in this program, in the OpenMetrics text format of Prometheus. Serve it as
     * {@code application/openmetrics-text; version=1.0.0; charset=utf-8}.
     */
    public static String metrics() {
        return Native.metrics();
    }

    /** The command line: {@code java -jar leafid.jar check}. */
    public static void main(String[] arguments) {
        System.exit((int) Native.cli(arguments));
    }
}
