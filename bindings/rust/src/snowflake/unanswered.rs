//! The claims of this process that no lease server has answered, and that no generator sends.

use crate::os::PerProcess;
use crate::os::mutex::lock;
use leafid_core::run::UnansweredClaims;
use std::sync::Mutex;

/// A forked child starts with none.
static CLAIMS: PerProcess<Mutex<UnansweredClaims>> = PerProcess::new();

/// Does something with them. Signals are blocked: the caller holds the lock of its generator.
pub(crate) fn with(action: impl FnOnce(&mut UnansweredClaims)) {
    action(&mut lock(CLAIMS.get_or_install(Mutex::default)));
}
