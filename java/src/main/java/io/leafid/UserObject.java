package io.leafid;

import java.util.concurrent.Executor;

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

    void ask(String[] event) {
        long ticket = Long.parseLong(event[1]);
        try {
            executor.execute(() -> run(ticket, event));
        } catch (Throwable refused) {
            // Also an executor that gets no thread.
            Native.answer(ticket, null, "its executor refused it: " + refused, null);
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
            failed = error.getMessage();
            code = error.code();
        } catch (Throwable error) {
            // Also StackOverflowError and OutOfMemoryError: without an answer the native side would wait.
            failed = String.valueOf(error);
        } finally {
            thread.setContextClassLoader(before);
        }
        Native.answer(ticket, values, failed, code);
    }
}
