//! What follows for worker ids from the file system that they are recorded on, and from what is around it.
//!
//! A directory that each container has to itself tells its replicas nothing of one another; one on a network is shared
//! by hosts whose locks may not see one another. The rules are pure functions of what was found.

use crate::file_system::{FileSystem, Kind};
use leafid_core::{Code, Error, Result};
use std::path::Path;

/// Where containers are made in numbers from one description, if this is such a place.
pub(crate) fn surroundings() -> Option<&'static str> {
    surroundings_of(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

fn surroundings_of(is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    [("KUBERNETES_SERVICE_HOST", "Kubernetes"), ("AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda")]
        .into_iter()
        .find_map(|(variable, name)| is_set(variable).then_some(name))
}

/// `instead`: what else to do. Errors: `state_io` for a network file system, unless the user vouches for its locks.
pub(crate) fn refuse_network(fs: &FileSystem, path: &Path, shared_fs: bool, instead: &str) -> Result<()> {
    if fs.kind != Kind::Network || shared_fs {
        return Ok(());
    }
    let message = format!(
        "{} is on {}, a network file system, where two hosts may both be given one lock; set shared_fs = true if its \
         locks work between all hosts that use it, or {instead}",
        path.display(),
        fs.name
    );
    Err(Error::new(Code::StateIo, message))
}

/// What else to do with records.
pub(crate) const LOCAL_STATE: &str = "set state_dir to a local disk";

/// For a range of worker ids. `named`: by the user, as an option or in the environment. Errors: `invalid_argument`
/// where each container would have a directory of its own, and so the same ids.
pub(crate) fn refuse_range(
    fs: &FileSystem,
    path: &Path,
    named: bool,
    surroundings: Option<&str>,
) -> Result<()> {
    let because = match (named, surroundings, fs.kind) {
        (true, ..) => return Ok(()),
        (_, Some(surroundings), _) => format!("this runs in {surroundings}"),
        (_, None, Kind::Ephemeral) => format!("{} is on {}", path.display(), fs.name),
        (_, None, Kind::Local | Kind::Network) => return Ok(()),
    };
    let message = format!(
        "worker is a range, and no state directory was named: {because}, where each container has a {} of its own and \
         would get the same ids; name a persistent directory that they share by state_dir or LEAFID_STATE_DIR, take \
         the ordinal of a StatefulSet with worker \"hostname:NAME\", or lease the worker id",
        path.display()
    );
    Err(Error::new(Code::InvalidArgument, message))
}

/// What a generator opened here is to warn of. `fixed`: the worker id, where it was given as a number.
pub(crate) fn warning(
    fs: &FileSystem,
    path: &Path,
    named: bool,
    surroundings: Option<&str>,
    fixed: Option<u32>,
) -> Option<String> {
    let ephemeral = fs.kind == Kind::Ephemeral;
    let mut parts = Vec::new();
    if let Some(worker_id) = fixed.filter(|_| ephemeral || surroundings.is_some()) {
        let here = surroundings
            .map_or_else(|| format!("on {}, as in a container", fs.name), |name| format!("in {name}"));
        parts.push(format!(
            "worker id {worker_id} is fixed {here}: every replica started from the same description would use it, and \
             make the same ids; take the ordinal of a StatefulSet with worker \"hostname:NAME\", or lease the worker id"
        ));
    }
    if ephemeral {
        let advice = if named { "set state_dir to" } else { "name by state_dir or LEAFID_STATE_DIR" };
        parts.push(format!(
            "{} is on {}: records there do not outlive the container or the machine, so ids never run ahead of the \
             clock; {advice} a persistent directory",
            path.display(),
            fs.name
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; besides, "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fs(name: &str, kind: Kind) -> FileSystem {
        FileSystem { name: name.into(), kind }
    }

    #[test]
    fn a_network_needs_the_user_s_word() {
        let path = Path::new("/srv/ids");
        let nfs = fs("nfs4", Kind::Network);
        let error = refuse_network(&nfs, path, false, LOCAL_STATE).unwrap_err();
        assert_eq!(error.code(), Code::StateIo);
        for said in ["/srv/ids is on nfs4, a network file system", "shared_fs = true", "state_dir"] {
            assert!(error.message().contains(said), "{error}");
        }
        refuse_network(&nfs, path, true, LOCAL_STATE).unwrap();
        refuse_network(&fs("ext4", Kind::Local), path, false, LOCAL_STATE).unwrap();
        refuse_network(&fs("tmpfs", Kind::Ephemeral), path, false, LOCAL_STATE).unwrap();
    }

    #[test]
    fn a_range_in_a_container_needs_a_named_directory() {
        let path = Path::new("/var/lib/leafid");
        for (kind, surroundings, named, refused) in [
            (Kind::Local, None, false, None),
            (Kind::Network, None, false, None),
            (Kind::Ephemeral, None, false, Some("/var/lib/leafid is on it")),
            (Kind::Ephemeral, None, true, None),
            (Kind::Local, Some("Kubernetes"), false, Some("this runs in Kubernetes")),
            (Kind::Ephemeral, Some("AWS Lambda"), false, Some("this runs in AWS Lambda")),
            (Kind::Ephemeral, Some("Kubernetes"), true, None),
        ] {
            let answer = refuse_range(&fs("it", kind), path, named, surroundings);
            match (answer, refused) {
                (Ok(()), None) => {}
                (Err(error), Some(why)) => {
                    assert_eq!(error.code(), Code::InvalidArgument);
                    for said in [why, "LEAFID_STATE_DIR", "hostname:NAME", "lease"] {
                        assert!(error.message().contains(said), "{error}");
                    }
                }
                (answer, _) => panic!("{kind:?} {surroundings:?} {named}: {answer:?}"),
            }
        }
    }

    #[test]
    fn what_is_warned_of() {
        let path = Path::new("/data");
        let fixed = "worker id 7 is fixed";
        let gone = "do not outlive";
        for (kind, surroundings, worker_id, said, unsaid) in [
            (Kind::Local, None, Some(7), &[][..], &[fixed, gone][..]),
            (Kind::Local, Some("Kubernetes"), None, &[], &[fixed, gone]),
            (Kind::Local, Some("Kubernetes"), Some(7), &[fixed, "in Kubernetes"], &[gone]),
            (Kind::Ephemeral, None, None, &[gone, "/data is on it"], &[fixed]),
            (Kind::Ephemeral, None, Some(7), &[fixed, "on it, as in a container", gone], &[]),
            (Kind::Ephemeral, Some("AWS Lambda"), Some(7), &[fixed, "in AWS Lambda", gone], &[]),
        ] {
            let text = warning(&fs("it", kind), path, true, surroundings, worker_id).unwrap_or_default();
            assert!(said.iter().all(|part| text.contains(part)), "{text}");
            assert!(!unsaid.iter().any(|part| text.contains(part)), "{text}");
            assert_eq!(text.is_empty(), said.is_empty());
        }
    }

    #[test]
    fn the_surroundings_are_told_by_the_environment() {
        assert_eq!(surroundings_of(|_| false), None);
        assert_eq!(surroundings_of(|name| name == "KUBERNETES_SERVICE_HOST"), Some("Kubernetes"));
        assert_eq!(surroundings_of(|name| name == "AWS_LAMBDA_FUNCTION_NAME"), Some("AWS Lambda"));
    }
}
