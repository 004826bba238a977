//! Opens the store of the options.

use crate::options::Options;
use crate::store::Store;
use leafid_core::Result;

/// Errors: `invalid_argument`.
pub(super) fn open(options: &Options) -> Result<Store> {
    Store::new(&options.store, options.store_connections, options.store_timeout())
}
