//! The platform that this process runs on.

use leafid_core::options::deployment;

/// The name of the platform, if it starts several containers from one description.
pub(crate) fn surroundings() -> Option<&'static str> {
    deployment::surroundings(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}
