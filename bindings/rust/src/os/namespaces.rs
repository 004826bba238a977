//! Whether the other processes of this machine see a mark of this process.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(crate) use linux::*;

/// The processes that see a mark of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "of the namespaces of Linux"))]
pub(crate) enum Scope {
    /// All processes of the machine's first network namespace, to which this process belongs.
    Host,
    /// The processes of this process's network namespace, which is not the machine's first.
    OwnNetwork,
    /// Perhaps only those of a container: the machine's first process is not visible from here.
    Container,
    /// Unknown: /proc does not show it.
    Unseen,
    /// None: no mark can be created.
    Unmarked,
}

impl Scope {
    /// Why it is not certain that the whole machine sees a mark.
    pub(crate) const fn reason(self) -> Option<&'static str> {
        match self {
            Scope::Host => None,
            Scope::OwnNetwork => Some(
                "this process has a network namespace of its own, as in a container or a unit with PrivateNetwork",
            ),
            Scope::Container => Some("this process has a process namespace of its own, as in a container"),
            Scope::Unseen => Some(
                "whether this process is in a container cannot be seen (no /proc/1/net/unix, as with hidepid)",
            ),
            Scope::Unmarked => {
                Some("no held worker id can be marked here (no abstract sockets, as under seccomp)")
            }
        }
    }
}
