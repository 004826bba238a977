//! Tasks whose panic is a result, because others wait for what they bring.

use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;

/// What it gives; `None` if it panicked, which was reported.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Option<T> {
    AssertUnwindSafe(future).catch_unwind().await.ok()
}
