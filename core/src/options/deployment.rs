//! Rules for worker ids that follow from the file system of their records and from the deployment.
//!
//! If each container has its own directory, its replicas do not see each other. A network directory is shared by hosts
//! whose locks may not exclude each other. The rules are pure functions of the facts.

use crate::options::worker_ids::{ChosenBy, WorkerRange};
use crate::quoted::Quoted;
use crate::sorted::sorted;
use crate::spelling::name::{EXCLUSIVE_RANGE, SHARED_FS, STATE_DIR};
use crate::{Code, Error, Result};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

/// The file system that a directory is on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileSystem {
    /// The kernel's name for it: `ext4`, `nfs4`.
    pub name: String,
    /// How long its files last, and who sees them.
    pub kind: FilesystemKind,
}

/// How long a file lasts, and who sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilesystemKind {
    /// A disk of this machine.
    Local,
    /// Gone with the container or with the machine's memory.
    Ephemeral,
    /// Shared with other hosts.
    Network,
}

impl FileSystem {
    /// Whether a copy of a file on it can be detected. In the layers of a container a copy can have the identity of the
    /// file, and each container that of the machine. On a network, the kernel's times are those of another machine.
    pub fn tells_copies(&self) -> bool {
        self.kind == FilesystemKind::Local || self.name == "tmpfs"
    }
}

/// The name of the platform, if it starts several containers from one description. `is_set`: whether the environment
/// has a variable of this name that is not empty.
pub fn surroundings(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    [
        ("KUBERNETES_SERVICE_HOST", "Kubernetes"),
        ("AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"),
        ("K_SERVICE", "Cloud Run or Knative"),
        ("CLOUD_RUN_JOB", "Cloud Run"),
        ("NOMAD_ALLOC_ID", "Nomad"),
        ("ECS_CONTAINER_METADATA_URI_V4", "ECS"),
        ("ECS_CONTAINER_METADATA_URI", "ECS"),
        // Their containers are machines of their own, whose first namespaces do not show that there are others.
        ("FLY_MACHINE_ID", "Fly.io"),
        ("CONTAINER_APP_NAME", "Azure Container Apps"),
        ("WEBSITE_INSTANCE_ID", "Azure App Service"),
        ("DYNO", "Heroku"),
        ("RENDER_INSTANCE_ID", "Render"),
        ("RAILWAY_REPLICA_ID", "Railway"),
        ("GAE_INSTANCE", "App Engine"),
    ]
    .into_iter()
    .find_map(|(variable, name)| is_set(variable).then_some(name))
}

/// The processes that see a host lock of this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All processes of the machine's first network namespace, to which this process belongs.
    Host,
    /// The processes of this process's network namespace, which is not the machine's first.
    OwnNetwork,
    /// Perhaps only those of a container: the machine's first process is not visible from here.
    Container,
    /// Unknown: /proc does not show it.
    Unseen,
    /// None: no host lock can be taken.
    NoLock,
}

impl Scope {
    /// Why it is not certain that the whole machine sees a host lock.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Scope::Host => None,
            Scope::OwnNetwork => Some("this process has a network namespace of its own, as in a container"),
            Scope::Container => Some("this process has a process namespace of its own, as in a container"),
            Scope::Unseen => Some(
                "whether this process is in a container cannot be seen (no /proc/1/net/unix, as with hidepid)",
            ),
            Scope::NoLock => Some("no host lock can be taken here (no abstract sockets, as under seccomp)"),
        }
    }
}

/// `instead` is the advice of the error. Errors: `state_io` for a network file system without `shared_fs`.
pub fn refuse_network(
    fs: &FileSystem,
    path: impl Display,
    shared_fs: bool,
    instead: impl Display,
) -> Result<()> {
    if fs.kind != FilesystemKind::Network || shared_fs {
        return Ok(());
    }
    let message = format!(
        "{path} is on {}, a network file system, where two hosts may both be given one lock; set {SHARED_FS} = true if its \
         locks work between all hosts that use it, or {instead}",
        fs.name
    );
    Err(Error::new(Code::StateIo, message))
}

/// The advice for records.
#[derive(Clone, Copy, Debug)]
pub struct LocalState;

impl Display for LocalState {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "set {STATE_DIR} to a local disk")
    }
}

/// The advice for records.
pub const LOCAL_STATE: LocalState = LocalState;

/// For the directory of a `file:` source. Returns what to warn of. Errors: as [`refuse_network`].
pub fn check_counters(fs: &FileSystem, path: impl Display, shared_fs: bool) -> Result<Option<String>> {
    refuse_network(fs, &path, shared_fs, "use a directory on a local disk")?;
    let warning = || {
        format!(
            "{path} is on {}: its counters are gone with the container or the machine, and ids would start over; use a \
             persistent directory",
            fs.name
        )
    };
    Ok((fs.kind == FilesystemKind::Ephemeral).then(warning))
}

/// The place where worker ids will be claimed.
pub struct WorkerPlace<'a> {
    /// The worker ids; `None` if a source gives them.
    pub workers: Option<&'a WorkerRange>,
    /// The file system of the state directory.
    pub fs: &'a FileSystem,
    /// The path of the state directory.
    pub path: &'a dyn Display,
    /// Whether the user named the path, by the option or in the environment.
    pub named: bool,
    /// The name of the platform, if it starts several containers from one description.
    pub surroundings: Option<&'a str>,
    /// The processes that see a host lock of this process.
    pub scope: Scope,
    /// The user's statement `exclusive_range`.
    pub exclusive: bool,
}

impl WorkerPlace<'_> {
    /// Errors: `invalid_argument` where other processes with the same worker ids may not see which are held here.
    pub fn refuse(&self) -> Result<()> {
        let Some(workers) = self.workers else { return Ok(()) };
        let is_local = workers.chosen_by == ChosenBy::Local;
        let is_excluded = is_local && self.surroundings.is_some();
        if !is_excluded && (self.exclusive || !is_local && workers.first == workers.last) {
            return Ok(());
        }
        let path = self.path;
        let because = match (self.surroundings, self.scope.reason(), self.fs.kind) {
            // The host's name separates the hosts, even if the directory does not. Of one host, other state directories
            // are not seen.
            (_, Some(reason), _)
                if workers.chosen_by == ChosenBy::HostName && self.scope == Scope::NoLock =>
            {
                reason.to_owned()
            }
            _ if workers.chosen_by == ChosenBy::HostName => return Ok(()),
            (Some(surroundings), ..) => format!("this runs in {surroundings}"),
            (None, Some(reason), _) => reason.to_owned(),
            (None, None, FilesystemKind::Ephemeral) if !self.named => {
                format!("{path} is on {}: name a persistent {STATE_DIR} (LEAFID_STATE_DIR)", self.fs.name)
            }
            _ => return Ok(()),
        };
        let (what, with) = match is_local {
            true => ("\"local\", for one machine alone", "it"),
            false => ("a range", "the same range"),
        };
        let refused = format!(
            "worker is {what}, and {because}; another container with {with} would make the same ids: use one worker id, \
             \"hostname:NAME\" or a lease"
        );
        let message = match is_excluded {
            true => refused,
            false => format!(
                "{refused}. Set {EXCLUSIVE_RANGE} (LEAFID_EXCLUSIVE_RANGE=1) only if no copy of this container and no other \
                 host will ever have this range, or all that have it share this state directory"
            ),
        };
        Err(Error::new(Code::InvalidArgument, message))
    }

    /// What to warn of when a generator is opened here.
    pub fn warning(&self) -> Option<String> {
        let (fs, surroundings) = (self.fs, self.surroundings);
        let ephemeral = fs.kind == FilesystemKind::Ephemeral;
        let mut parts = Vec::new();
        match self.workers {
            Some(WorkerRange { chosen_by: ChosenBy::Local, .. }) => parts.push(String::from(
                "worker is \"local\": ids are unique on this machine alone; where ids of several machines meet, give each \
                 machine worker ids of its own",
            )),
            Some(WorkerRange { chosen_by: ChosenBy::User, first, last })
                if first == last && (ephemeral || surroundings.is_some()) =>
            {
                let here = surroundings
                    .map_or_else(|| format!("on {}, as in a container", fs.name), |name| format!("in {name}"));
                parts.push(format!(
                    "worker id {first} is fixed {here}: every replica started from the same description would use it, and \
                     make the same ids; take the ordinal of a StatefulSet with worker \"hostname:NAME\", or lease the \
                     worker id"
                ));
            }
            _ => {}
        }
        if ephemeral {
            let advice = match self.named {
                true => format!("set {STATE_DIR} to"),
                false => format!("name by {STATE_DIR} or LEAFID_STATE_DIR"),
            };
            parts.push(format!(
                "{} is on {}: records there do not outlive the container or the machine, so ids never run ahead of the \
                 clock; {advice} a persistent directory",
                self.path, fs.name
            ));
        }
        (!parts.is_empty()).then(|| parts.join("; besides, "))
    }
}

/// The warning for a worker id of the id space `name` that is held on this host in `others` as well.
pub fn other_names_warning(name: &str, worker_id: u32, others: Vec<String>) -> Option<String> {
    let mut others = sorted(others.into_iter().filter(|other| other != name));
    others.dedup();
    let more = others.len().saturating_sub(MOST_NAMES);
    let shown: Vec<_> = others.iter().take(MOST_NAMES).map(|other| format!("{}", Quoted(other))).collect();
    let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shown.is_empty()).then(|| {
        let name = Quoted(name);
        format!(
            "worker id {worker_id} of {name} is held on this host under another name, too: {}{and_more}; each name is an \
             id space, and ids of two id spaces can be equal. If their ids go into one column, give all of them one name",
            shown.join(", ")
        )
    })
}

/// The largest number of names in a message.
const MOST_NAMES: usize = 3;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn fs(name: &str, kind: FilesystemKind) -> FileSystem {
        FileSystem { name: name.into(), kind }
    }

    const RANGE: WorkerRange = WorkerRange { first: 0, last: 31, chosen_by: ChosenBy::User };
    const ONE: WorkerRange = WorkerRange { first: 7, last: 7, chosen_by: ChosenBy::User };

    #[test]
    fn a_range_is_refused_where_others_may_not_see_it() {
        let path = "/var/lib/leafid";
        let (local, ephemeral) = (fs("it", FilesystemKind::Local), fs("it", FilesystemKind::Ephemeral));
        let network = fs("it", FilesystemKind::Network);
        for (fs, surroundings, named, scope, refused) in [
            (&local, None, false, Scope::Host, None),
            (&network, None, false, Scope::Host, None),
            (&ephemeral, None, false, Scope::Host, Some("on it: name a persistent state_dir")),
            (&ephemeral, None, true, Scope::Host, None),
            (&local, Some("Kubernetes"), false, Scope::Host, Some("this runs in Kubernetes")),
            (&local, Some("AWS Lambda"), true, Scope::Host, Some("this runs in AWS Lambda")),
            (&ephemeral, Some("Kubernetes"), true, Scope::Container, Some("this runs in Kubernetes")),
            (&local, None, true, Scope::OwnNetwork, Some("a network namespace of its own")),
            (&ephemeral, None, false, Scope::Container, Some("a process namespace of its own")),
            (&local, None, true, Scope::Unseen, Some("cannot be seen")),
            (&local, None, true, Scope::NoLock, Some("no host lock can be taken here")),
        ] {
            // A layout may have one worker id alone.
            for first in [0, 31] {
                let by = |chosen_by| WorkerRange { first, chosen_by, ..RANGE };
                let (user, alone, name) = (by(ChosenBy::User), by(ChosenBy::Local), by(ChosenBy::HostName));
                let at = |workers, exclusive| WorkerPlace {
                    workers: Some(workers),
                    fs,
                    path: &path,
                    named,
                    surroundings,
                    scope,
                    exclusive,
                };
                let said = refused.map(|why| ["worker is a range", why, "hostname:NAME", "only if no copy"]);
                check(at(&user, false).refuse(), said.filter(|_| first == 0));
                assert_eq!(at(&user, true).refuse(), Ok(()));
                let by_name = said.filter(|_| first == 0 && scope == Scope::NoLock);
                check(at(&name, false).refuse(), by_name);
                let said = refused.map(|why| ["worker is \"local\"", why, "hostname:NAME", "a lease"]);
                check(at(&alone, false).refuse(), said);
                // Of a platform, the user's statement is not taken for it.
                check(at(&alone, true).refuse(), said.filter(|_| surroundings.is_some()));
            }
        }
    }

    #[track_caller]
    fn check(answer: Result<()>, said: Option<[&str; 4]>) {
        match (answer, said) {
            (Ok(()), None) => {}
            (Err(error), Some(parts)) => {
                assert_eq!(error.code(), Code::InvalidArgument);
                assert!(parts.iter().all(|part| error.message().contains(part)), "{error}");
            }
            (answer, said) => panic!("{answer:?}, not {said:?}"),
        }
    }

    #[test]
    fn a_worker_id_under_another_name_is_warned_of() {
        let warning = |others: &[&str]| {
            other_names_warning("orders", 7, others.iter().map(|&other| other.into()).collect())
        };
        assert_eq!(warning(&[]), None);
        assert_eq!(warning(&["orders", "orders"]), None);
        let text = warning(&["importer", "orders", "importer"]).unwrap();
        for said in ["worker id 7 of \"orders\"", "too: \"importer\";", "into one column", "one name"] {
            assert!(text.contains(said), "{text}");
        }
        let text = warning(&["e", "d", "c", "b", "a"]).unwrap();
        assert!(text.contains("too: \"a\", \"b\", \"c\" and 2 more;"), "{text}");
    }

    #[test]
    fn what_is_warned_of() {
        let alone = WorkerRange { chosen_by: ChosenBy::Local, ..RANGE };
        let (fixed, gone, local) = ("worker id 7 is fixed", "do not outlive", "unique on this machine alone");
        for (kind, surroundings, workers, said) in [
            (FilesystemKind::Local, None, Some(&ONE), &[][..]),
            (FilesystemKind::Local, Some("Kubernetes"), None, &[]),
            (FilesystemKind::Local, Some("Kubernetes"), Some(&ONE), &[fixed, "in Kubernetes"]),
            (FilesystemKind::Local, None, Some(&alone), &[local]),
            (FilesystemKind::Ephemeral, None, None, &[gone, "/data is on it"]),
            (FilesystemKind::Ephemeral, None, Some(&RANGE), &[gone]),
            (FilesystemKind::Ephemeral, None, Some(&ONE), &[fixed, "on it, as in a container", gone]),
            (FilesystemKind::Ephemeral, Some("AWS Lambda"), Some(&ONE), &[fixed, "in AWS Lambda", gone]),
        ] {
            let (fs, path, scope) = (&fs("it", kind), &"/data", Scope::Host);
            let place = WorkerPlace { workers, fs, path, named: true, surroundings, scope, exclusive: false };
            let text = place.warning().unwrap_or_default();
            assert!(said.iter().all(|part| text.contains(part)), "{text}");
            let is_said = |part: &&str| said.contains(part);
            assert!([fixed, gone, local].iter().all(|part| is_said(part) || !text.contains(part)), "{text}");
            assert_eq!(text.is_empty(), said.is_empty());
        }
    }
}
