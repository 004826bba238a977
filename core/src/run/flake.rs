//! The generator of a run, which its readers share.

use crate::Snowflake;
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

/// A copy of a run has a generator of its own. Two are equal if they stand at one place.
pub(crate) struct Flake(Arc<Snowflake>);

impl Flake {
    pub(crate) fn new(flake: Snowflake) -> Flake {
        Flake(Arc::new(flake))
    }

    pub(crate) fn shared(&self) -> &Arc<Snowflake> {
        &self.0
    }
}

impl Deref for Flake {
    type Target = Snowflake;

    fn deref(&self) -> &Snowflake {
        &self.0
    }
}

impl fmt::Debug for Flake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "generator at {:?}", self.0.place())
    }
}

impl Clone for Flake {
    fn clone(&self) -> Flake {
        Flake::new(self.0.copy())
    }
}

impl PartialEq for Flake {
    fn eq(&self, other: &Flake) -> bool {
        self.0.place() == other.0.place()
    }
}

impl Eq for Flake {}

impl Hash for Flake {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.place().hash(state);
    }
}
