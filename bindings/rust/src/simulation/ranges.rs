//! Ranges of a shared directory and their marks, on file systems of each kind, and after kills and power cuts.

use super::machine::Draw;
use super::*;
use crate::FileTag;
use crate::segments::high_water::tests::of_source::MarksOfSource;
use crate::segments::source::file::FileSource;
use leafid_core::{IdOrder, Segment};

const TAG: &str = "order";

#[test]
fn a_network_needs_the_user_s_word_and_the_layers_of_a_container_keep_no_rest() {
    let world = World::new();
    *lock(&world.machine.file_system) = FileSystem { name: "nfs4".into(), kind: FilesystemKind::Network };
    let open = |shared_fs| {
        let env = Arc::new(world.env());
        let source = FileSource::open(Arc::clone(&env), Path::new("/counters"), true, &[], shared_fs);
        let marks = MarksOfSource::new(env, Some(Path::new("/state")), "it", IdOrder::Ascending, shared_fs);
        [source.map(drop), marks.map(drop)]
    };
    for answer in open(false) {
        let error = answer.unwrap_err();
        assert!(error.code() == Code::StateIo && error.message().contains("shared_fs = true"), "{error}");
    }
    assert!(open(true).into_iter().all(|answer| answer.is_ok()));
    for (name, kind, keeps) in [
        ("ext4", FilesystemKind::Local, true),
        ("tmpfs", FilesystemKind::Ephemeral, true),
        ("overlay", FilesystemKind::Ephemeral, false),
    ] {
        *lock(&world.machine.file_system) = FileSystem { name: name.into(), kind };
        let marks = MarksOfSource::new(
            Arc::new(world.env()),
            Some(Path::new("/state")),
            name,
            IdOrder::Ascending,
            false,
        )
        .unwrap();
        let segment = Segment::new(1, 11, 1).unwrap();
        marks.accept(TAG, &[segment], 0).unwrap();
        marks.keep_unused(TAG, &[segment]).unwrap();
        assert_eq!(!marks.take_unused(TAG).unwrap().is_empty(), keeps, "{name}");
    }
}

#[test]
fn a_new_tag_goes_on_wherever_its_first_process_was_killed_before_the_power_cut() {
    /// More than it makes writes and syncs.
    const LEFT: i64 = 24;
    let (world, mut draw) = (World::new(), Draw::new(1));
    let uses = |env: Env, directory: &str, tag: &str| -> Result<()> {
        let env = Arc::new(env);
        let tags = [(tag.to_owned(), FileTag { start: 1, step: 20 })];
        let source = FileSource::open(Arc::clone(&env), Path::new(directory), true, &tags, false)?;
        let name = source.source_name();
        let marks = MarksOfSource::new(env, Some(Path::new("/state")), &name, IdOrder::Ascending, false)?;
        marks.take_unused(tag)?;
        let after = marks.after(tag)?;
        let segment = source.fetch(tag, 10, after, false)?.segment;
        marks.keep_unused(tag, &marks.accept(tag, &[segment], after)?)
    };
    for round in 0..8 * LEFT {
        let (directory, left) = (format!("/counters-{round}"), round % LEFT);
        for tag in [TAG, "invoice"] {
            let first = uses(world.env_until(left), &directory, tag);
            assert!(first.is_ok() || left < LEFT - 1, "{tag}: {LEFT} are not enough");
            world.machine.cut_power(&mut draw);
            world.machine.boot_id();
            let next = uses(world.env(), &directory, tag);
            assert!(next.is_ok(), "{tag}, killed after {left}: {next:?}");
        }
    }
}
