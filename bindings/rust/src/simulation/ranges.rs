//! Tests of ranges of a shared directory, their marks, and the unused ids of clean closes, while processes are killed
//! at every point of their writes, the power fails, and slots are damaged.

use super::world::Crash;
use super::*;
use crate::FileTag;
use crate::segments::high_water::tests::of_source::MarksOfSource;
use crate::segments::source::file::FileSource;
use leafid_core::supply::counter_update::MARKER;
use leafid_core::{IdOrder, Segment};

const TAG: &str = "order";

/// A process that takes ids of one tag.
struct Taker {
    source: FileSource,
    marks: MarksOfSource,
    /// A segment that was fetched and not accepted yet, and the mark of its request.
    pending: Option<(Segment, i64)>,
    rest: Vec<Segment>,
}

impl Taker {
    fn start(world: &World) -> Result<Taker> {
        let env = Arc::new(world.env());
        let tags = [(TAG.to_owned(), FileTag { start: 1, step: 20 })];
        let source = FileSource::open(Arc::clone(&env), Path::new("/counters"), true, &tags, false)?;
        let marks = MarksOfSource::new(
            env,
            Some(Path::new("/state")),
            &source.source_name(),
            IdOrder::Ascending,
            false,
        )?;
        let rest = marks.take_unused(TAG)?;
        Ok(Taker { source, marks, pending: None, rest })
    }

    fn fetch(&mut self, step: i64) -> Result<()> {
        let after = self.marks.after(TAG)?;
        let fetched = self.source.fetch(TAG, step, after, false)?;
        self.pending = Some((fetched.segment, after));
        Ok(())
    }

    fn accept(&mut self) -> Result<()> {
        let Some((segment, after)) = self.pending.take() else { return Ok(()) };
        self.marks.accept(TAG, &[segment], after)?;
        self.rest.push(segment);
        Ok(())
    }

    fn issue(&mut self) -> Option<i64> {
        let first = self.rest.first_mut()?;
        let id = first.start();
        match Segment::new(id + 1, first.end(), 1) {
            Ok(rest) => *first = rest,
            Err(_) => drop(self.rest.remove(0)),
        }
        Some(id)
    }
}

/// Damages the slot of a file that holds the newest content, if both slots are readable.
fn rot(world: &World, path: &Path) {
    let mut files = lock(&world.0.files);
    let Some(bytes) = files.get_mut(path) else { return };
    let number = |slot: &[u8]| {
        let json: serde_json::Value =
            serde_json::from_str(leafid_core::format::two_slots::checked(slot)?).ok()?;
        json["number"].as_u64()
    };
    if let (Some(first), Some(second)) = (number(&bytes[..4096]), number(&bytes[4096..])) {
        bytes[usize::from(second > first) * 4096 + 40] ^= 1;
        lock(&world.0.durable).insert(path.to_owned(), bytes.clone());
    }
}

fn paths(world: &World) -> Vec<PathBuf> {
    let files = lock(&world.0.files);
    // The marker identifies the directory. Its damage is not a subject of these tests.
    files.keys().filter(|path| !path.ends_with(MARKER)).cloned().collect()
}

#[test]
fn a_network_needs_the_user_s_word_and_the_layers_of_a_container_keep_no_rest() {
    let world = World::new();
    *lock(&world.0.file_system) = FileSystem { name: "nfs4".into(), kind: FilesystemKind::Network };
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
        *lock(&world.0.file_system) = FileSystem { name: name.into(), kind };
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
fn no_id_is_issued_twice_whatever_ends_the_processes() {
    let seed = std::env::var("LEAFID_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    let (mut all, mut rests, mut rotten, mut crashes) = (0, 0, 0, 0);
    for seed in seed..seed + 100 {
        let mut random = seed;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let world = World::new();
        let mut takers: [Option<Taker>; 3] = [const { None }; 3];
        let mut issued = BTreeSet::new();
        for _ in 0..1_000 {
            world.pass(draw(1_000) as i64);
            if draw(8) == 0 {
                let how = match draw(5) {
                    0 => Crash::Before,
                    1 => Crash::Torn(draw(4_096) as usize),
                    2 => Crash::Torn(draw(400) as usize),
                    3 => Crash::Written,
                    _ => Crash::After,
                };
                world.crash_at_next_write(how);
            }
            let taker = &mut takers[draw(3) as usize];
            let done = match taker {
                None => Taker::start(&world).map(|started| {
                    rests += u32::from(!started.rest.is_empty());
                    *taker = Some(started);
                }),
                Some(one) => match draw(6) {
                    0 | 1 => one.fetch(draw(30) as i64),
                    2 | 3 => one.accept(),
                    4 => {
                        for _ in 0..draw(25) {
                            if let Some(id) = one.issue() {
                                assert!(issued.insert(id), "seed {seed}: {id} twice");
                            }
                        }
                        Ok(())
                    }
                    _ if draw(3) == 0 => {
                        let kept = one.marks.keep_unused(TAG, &one.rest);
                        *taker = None;
                        kept
                    }
                    _ => Ok(()),
                },
            };
            if let Err(error) = done {
                assert_eq!(error.code(), Code::StateIo, "seed {seed}: {error}");
                crashes += 1;
                *taker = None;
                if draw(3) == 0 {
                    takers = [const { None }; 3];
                    world.cut_power();
                }
            }
            if draw(40) == 0 {
                let paths = paths(&world);
                if !paths.is_empty() {
                    rotten += 1;
                    rot(&world, &paths[draw(paths.len() as u64) as usize]);
                }
            }
        }
        all += issued.len();
    }
    let enough = all > 10_000 && rests > 100 && rotten > 100 && crashes > 1_000;
    assert!(enough, "{all} ids, {rests} rests, {rotten} slots, {crashes} crashes");
}
