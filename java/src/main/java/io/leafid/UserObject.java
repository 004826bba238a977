package io.leafid;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

/** A user's object that leafid calls, on the user's executor and with the class loader of the thread that gave it. */
final class UserObject {
    /** A call of the object: what it gives to the native side, which may be null. */
    interface Call {
        String[] answer(String[] event) throws Exception;
    }

    private final Call call;
    private final Executor executor;
    private final ClassLoader loader = Thread.currentThread().getContextClassLoader();

    UserObject(Call call, Executor executor) {
        this.call = call;
        this.executor = executor == null ? Threads.CALLBACKS : executor;
    }

    /** Answers this ticket, whatever happens: a thread of the native side waits for it. */
    void ask(long ticket, String[] event) {
        AtomicBoolean hasBegun = new AtomicBoolean();
        Runnable asked = () -> {
            hasBegun.set(true);
            run(ticket, event);
        };
        // An executor may drop what it has accepted, as shutdownNow does.
        Cleanup.register(asked, () -> {
            if (!hasBegun.get()) Native.answer(ticket, null, "its executor dropped it", null);
        });
        try {
            executor.execute(asked);
        } catch (Throwable refused) {
            // Also an executor that gets no thread.
            Native.answer(ticket, null, "its executor refused it: " + said(refused), null);
        }
    }

    private static String said(Throwable error) {
        try {
            return String.valueOf(error);
        } catch (Throwable again) {
            return "an error whose text failed, too";
        }
    }

    private void run(long ticket, String[] event) {
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        String[] values = null;
        String failed = null;
        String code = null;
        try {
            thread.setContextClassLoader(loader);
            values = call.answer(event);
        } catch (LeafidException error) {
            failed = String.valueOf(error.getMessage());
            code = error.code();
        } catch (Throwable error) {
            // Also StackOverflowError and OutOfMemoryError.
            failed = said(error);
        } finally {
            thread.setContextClassLoader(before);
        }
        Native.answer(ticket, values, failed, code);
    }
}
