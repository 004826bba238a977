//! Opens the store of the options.

use crate::options::Options;
use crate::store::{Store, Stride};
use leafid_core::Result;

/// Errors: `invalid_argument`.
pub(super) fn open(options: &Options) -> Result<Store> {
    let stride = Stride::new(options.stride, options.remainder)?;
    Store::new(&options.store, options.store_connections, options.store_timeout(), stride)
}
