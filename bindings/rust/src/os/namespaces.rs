//! The namespaces of Linux. namespaces(7)

use leafid_core::options::deployment::Scope;
use std::fs;
use std::path::Path;

/// The known facts about the namespaces of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    /// The numbers of its process namespace and its network namespace.
    pub(crate) processes: Option<u64>,
    pub(crate) network: Option<u64>,
    /// Whether a host lock can be taken at all.
    pub(crate) locks: bool,
    /// Whether the first process that /proc shows is in the network namespace of such a lock.
    pub(crate) first_sees: Option<bool>,
}

/// The kernel's fixed numbers for the namespaces of the machine's first process: PROC_PID_INIT_INO for ever, and since
/// Linux 6.18 NET_NS_INIT_INO; before, no namespace had that number. linux/nsfs.h
const FIRST_PROCESSES: u64 = 0xefff_fffc;
const FIRST_NETWORK: u64 = 0xefff_fff9;

impl Facts {
    pub(crate) fn scope(&self) -> Scope {
        match *self {
            Facts { locks: false, .. } => Scope::NoLock,
            Facts { network: Some(FIRST_NETWORK), .. } => Scope::Host,
            // Only here is process 1 the machine's own.
            Facts { processes: Some(FIRST_PROCESSES), first_sees: Some(true), .. } => Scope::Host,
            Facts { processes: Some(FIRST_PROCESSES), first_sees: Some(false), .. } => Scope::OwnNetwork,
            Facts { processes: Some(FIRST_PROCESSES) | None, .. } => Scope::Unseen,
            Facts { processes: Some(_), .. } => Scope::Container,
        }
    }
}

/// The number of a namespace of this process.
pub(crate) fn number(kind: &str) -> Option<u64> {
    let link = fs::read_link(Path::new("/proc/self/ns").join(kind)).ok()?;
    link.to_str()?.strip_prefix(kind)?.strip_prefix(":[")?.strip_suffix(']')?.parse().ok()
}

/// Whether an abstract socket of this name is in the network namespace of process 1. proc_pid_net(5)
pub(crate) fn first_sees(name: &str) -> Option<bool> {
    let sockets = fs::read("/proc/1/net/unix").ok()?;
    let line_end = format!("@{name}");
    Some(sockets.split(|&byte| byte == b'\n').any(|line| line.ends_with(line_end.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_lock_is_the_whole_machine_s_only_where_that_is_seen() {
        let first = Some(4_026_531_836);
        let other = Some(4_026_532_263);
        for (processes, network, locks, first_sees, scope) in [
            (first, Some(4_026_531_840), true, Some(true), Scope::Host),
            (first, None, true, Some(true), Scope::Host),
            (first, other, true, Some(false), Scope::OwnNetwork),
            (first, other, true, None, Scope::Unseen),
            // Process 1 of a container sees its own network, whichever that is.
            (other, other, true, Some(true), Scope::Container),
            (other, other, true, Some(false), Scope::Container),
            (None, other, true, Some(true), Scope::Unseen),
            (None, None, true, None, Scope::Unseen),
            // A container in the machine's network, on a kernel with that number.
            (other, Some(4_026_531_833), true, Some(true), Scope::Host),
            (None, Some(4_026_531_833), true, None, Scope::Host),
            (first, Some(4_026_531_833), false, None, Scope::NoLock),
            (first, other, false, Some(true), Scope::NoLock),
        ] {
            let facts = Facts { processes, network, locks, first_sees };
            assert_eq!(facts.scope(), scope, "{facts:?}");
            assert_eq!(scope.reason().is_none(), scope == Scope::Host);
        }
    }

    #[test]
    fn the_numbers_are_read() {
        assert!(number("pid").is_some() && number("net").is_some());
        assert_eq!(number("nothing"), None);
        assert_ne!(first_sees("leafid/nobody has this"), Some(true));
    }
}
