//! Calls that wait for the clock or the disk.

use leafid_core::{Code, Error, Result};
use tokio::task::spawn_blocking;

/// Runs what waits beside the requests.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let ended = |error| Error::new(Code::Internal, format!("a thread ended: {error}"));
    spawn_blocking(work).await.map_err(ended)?
}
