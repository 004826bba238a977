//! The kinds of Linux: the kernel's numbers, and the types of mounts.

use leafid_core::options::deployment::{FileSystem, FilesystemKind};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The magic numbers of statfs(2), from the kernel's magic.h and the sources of the file systems. Others are local
/// disks.
const MAGIC: [(u32, &str, FilesystemKind); 26] = [
    (0x794c_7630, "overlay", FilesystemKind::Ephemeral),
    (0x6175_6673, "aufs", FilesystemKind::Ephemeral),
    (0x0102_1994, "tmpfs", FilesystemKind::Ephemeral),
    (0x8584_58f6, "ramfs", FilesystemKind::Ephemeral),
    (0x0000_6969, "nfs", FilesystemKind::Network),
    (0x0000_517b, "smb", FilesystemKind::Network),
    (0xff53_4d42, "cifs", FilesystemKind::Network),
    (0xfe53_4d42, "smb2", FilesystemKind::Network),
    (0x0102_1997, "9p", FilesystemKind::Network),
    (0x00c3_6400, "ceph", FilesystemKind::Network),
    (0x0bd0_0bd0, "lustre", FilesystemKind::Network),
    (0x4750_4653, "gpfs", FilesystemKind::Network),
    (0x5346_414f, "afs", FilesystemKind::Network),
    (0x6b41_4653, "afs", FilesystemKind::Network),
    (0x7375_7245, "coda", FilesystemKind::Network),
    (0x0000_564c, "ncp", FilesystemKind::Network),
    (0x7461_636f, "ocfs2", FilesystemKind::Network),
    (0x0116_1970, "gfs2", FilesystemKind::Network),
    (0x6163_6673, "acfs", FilesystemKind::Network),
    (0x1983_0326, "beegfs", FilesystemKind::Network),
    (0x2003_0528, "orangefs", FilesystemKind::Network),
    (0xaad7_aaea, "panfs", FilesystemKind::Network),
    (0xbeef_dead, "snfs", FilesystemKind::Network),
    (0x786f_4256, "vboxsf", FilesystemKind::Network),
    (0x7c7c_6673, "prl_fs", FilesystemKind::Network),
    (0xbacb_acbc, "vmhgfs", FilesystemKind::Network),
];
/// A program serves the files; the type of the mount says which one.
const FUSE: u32 = 0x6573_5546;

/// The file system of this directory, or of the nearest existing one above it. This hangs on a network that does not
/// respond.
pub(crate) fn of(path: &Path) -> io::Result<FileSystem> {
    let path = super::nearest(path)?;
    // The kernel's numbers have 32 bits. The width and the sign of the field differ between machines.
    let magic = rustix::fs::statfs(&path)?.f_type as u32;
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    Ok(classify(magic, mounted_as(&mounts, &path)))
}

/// `mounted` is the type of its mount, if it is known.
fn classify(magic: u32, mounted: Option<&str>) -> FileSystem {
    if magic == FUSE {
        let name = mounted.unwrap_or("fuse");
        let kind = match name {
            "fuse.fuse-overlayfs" => FilesystemKind::Ephemeral,
            // A disk's file system that a program of this machine drives.
            "fuseblk" => FilesystemKind::Local,
            // virtiofs among them: a directory of the machine below, whose other guests may not see a flock of this one.
            _ => FilesystemKind::Network,
        };
        return FileSystem { name: name.into(), kind };
    }
    match MAGIC.iter().find(|(number, ..)| *number == magic) {
        Some(&(_, name, kind)) => {
            // The mount says more, such as nfs4, but only if it is of this family: another may hide it.
            let finer = mounted.filter(|mounted| mounted.starts_with(name));
            FileSystem { name: finer.unwrap_or(name).into(), kind }
        }
        None => {
            let name = mounted.map_or_else(|| format!("a file system of type {magic:#x}"), Into::into);
            FileSystem { name, kind: FilesystemKind::Local }
        }
    }
}

/// The type of the mount of a path without links: of the mount points above the path, the longest one. If several
/// mounts are at that point, the last one hides the others. proc_pid_mountinfo(5)
fn mounted_as<'m>(mounts: &'m str, path: &Path) -> Option<&'m str> {
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let Some((before, after)) = line.split_once(" - ") else { continue };
        let (Some(point), Some(kind)) = (before.split(' ').nth(4), after.split(' ').next()) else { continue };
        let point = PathBuf::from(unescaped(point));
        let depth = point.components().count();
        if path.starts_with(&point) && best.is_none_or(|(longest, _)| depth >= longest) {
            best = Some((depth, kind));
        }
    }
    best.map(|(_, kind)| kind)
}

/// Decodes a mount point, in which blanks and backslashes are written in octal, as in `\040`.
fn unescaped(point: &str) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(point.len());
    let mut rest = point.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fs(name: &str, kind: FilesystemKind) -> FileSystem {
        FileSystem { name: name.into(), kind }
    }

    #[test]
    fn kinds_by_number_and_mount() {
        for (magic, mounted, name, kind) in [
            (0xef53, Some("ext4"), "ext4", FilesystemKind::Local),
            (0xef53, None, "a file system of type 0xef53", FilesystemKind::Local),
            (0x794c_7630, Some("overlay"), "overlay", FilesystemKind::Ephemeral),
            (0x0102_1994, Some("tmpfs"), "tmpfs", FilesystemKind::Ephemeral),
            (0x8584_58f6, None, "ramfs", FilesystemKind::Ephemeral),
            (0x6969, Some("nfs4"), "nfs4", FilesystemKind::Network),
            (0x6969, Some("ext4"), "nfs", FilesystemKind::Network),
            (0xff53_4d42, Some("cifs"), "cifs", FilesystemKind::Network),
            (0xfe53_4d42, Some("cifs"), "smb2", FilesystemKind::Network),
            (0x0102_1997, Some("9p"), "9p", FilesystemKind::Network),
            (0x00c3_6400, Some("ceph"), "ceph", FilesystemKind::Network),
            (FUSE, Some("fuse.fuse-overlayfs"), "fuse.fuse-overlayfs", FilesystemKind::Ephemeral),
            (FUSE, Some("fuseblk"), "fuseblk", FilesystemKind::Local),
            (FUSE, Some("virtiofs"), "virtiofs", FilesystemKind::Network),
            (FUSE, Some("fuse.sshfs"), "fuse.sshfs", FilesystemKind::Network),
            (FUSE, None, "fuse", FilesystemKind::Network),
        ] {
            assert_eq!(classify(magic, mounted), fs(name, kind), "{magic:#x} {mounted:?}");
        }
    }

    #[test]
    fn the_longest_mount_point_above_and_the_last_of_several() {
        let mounts = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                      28 27 0:24 / /srv rw shared:1 - nfs4 host:/srv rw\n\
                      29 28 0:25 / /srv/local\\040disk rw - xfs /dev/vdb rw\n\
                      30 27 0:26 / /mnt rw - autofs systemd-1 rw\n\
                      31 30 0:27 / /mnt rw master:3 shared:4 - fuse.sshfs a:/b rw\n";
        for (path, expected) in [
            ("/", "ext4"),
            ("/srvx", "ext4"),
            ("/srv", "nfs4"),
            ("/srv/a/b", "nfs4"),
            ("/srv/local disk/a", "xfs"),
            ("/mnt/x", "fuse.sshfs"),
        ] {
            assert_eq!(mounted_as(mounts, Path::new(path)), Some(expected), "{path}");
        }
        assert_eq!(mounted_as("", Path::new("/")), None);
    }

    #[test]
    fn this_machine_s_own() {
        assert_eq!(of(Path::new("/dev/shm/not/there")).unwrap(), fs("tmpfs", FilesystemKind::Ephemeral));
        assert_eq!(of(Path::new("/proc/self")).unwrap().name, "proc");
    }
}
