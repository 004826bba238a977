package io.leafid;

/** An error of leafid. Its message says what was wrong, with the value, and then what to do. */
public final class LeafidException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String code;
    private final boolean retry;

    /**
     * For a function of your own that leafid calls, and for tests: {@code worker_lost} of {@link WorkerLeases#renew} says that
     * another holder has the worker id.
     *
     * @param code a name of docs/ERRORS.md
     */
    public LeafidException(String code, String message) {
        this(code, message, Native.canRetry(code));
    }

    LeafidException(String code, String message, boolean retry) {
        super(message);
        this.code = code;
        this.retry = retry;
    }

    /** The same error for another thread that has waited for it. */
    LeafidException(LeafidException shared) {
        super(shared.getMessage(), shared);
        code = shared.code;
        retry = shared.retry;
    }

    /** The permanent name of its kind, such as {@code clock_backwards}: docs/ERRORS.md lists them. */
    public String code() {
        return code;
    }

    /** Whether the same call can succeed later without a change by hand. */
    public boolean canRetry() {
        return retry;
    }
}
