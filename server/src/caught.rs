//! Tasks whose panic is a result, because others wait for what they bring.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

/// What it gives; `None` if it panicked, which was reported.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let poll = std::future::poll_fn(|context| {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    });
    poll.await
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[tokio::test]
    async fn a_panic_is_a_result_also_after_a_wait() {
        assert_eq!(caught(async { 7 }).await, Some(7));
        for waits in [false, true] {
            let panics = async {
                if waits {
                    tokio::task::yield_now().await;
                }
                panic!("played");
            };
            assert_eq!(caught::<i32>(panics).await, None, "{waits}");
        }
    }
}
