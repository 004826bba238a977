package io.leafid;

import java.util.concurrent.CompletableFuture;

/** A call for ids that may wait. The native side says when to look again. */
final class PendingIds {
    /** The tag is held as long as this is. */
    private final Tag tag;
    /** Its handle when the call began. */
    private final long of;
    private final long number = Native.number();
    private final long[] ids;
    private final CompletableFuture<long[]> result = new CompletableFuture<>();
    /** 0 once it has ended. */
    private long handle;

    private PendingIds(Tag tag, long of, long handle, long[] ids) {
        this.tag = tag;
        this.of = of;
        this.handle = handle;
        this.ids = ids;
    }

    static CompletableFuture<long[]> of(Tag tag, long of, long handle, long[] ids) {
        PendingIds pending = new PendingIds(tag, of, handle, ids);
        Native.waits(pending.number, pending::look);
        pending.look();
        // One that is cancelled gives its ids back.
        pending.result.whenComplete((all, failed) -> pending.end());
        return pending.result;
    }

    private void look() {
        Throwable failed = null;
        synchronized (this) {
            if (handle == 0) return;
            try {
                if (!poll(handle, number)) return;
                // Of a checkpoint's each copy would have them.
                tag.requireOpen(of);
                // Once they are written, none is put back: a cancel from here on leaves a gap.
                if (!result.isDone()) write(handle, ids);
            } catch (Throwable error) {
                // Also for want of memory: a call that is not looked at any more would wait for ever.
                failed = error;
            }
            end();
        }
        if (failed == null) result.complete(ids);
        else result.completeExceptionally(failed);
    }

    private synchronized void end() {
        Native.rests(number);
        if (handle == 0) return;
        free(handle);
        handle = 0;
    }

    @Override
    public String toString() {
        return ids.length + " ids of " + tag;
    }

    private static native void free(long handle);

    private native boolean poll(long handle, long number);

    private native void write(long handle, long[] out);
}
