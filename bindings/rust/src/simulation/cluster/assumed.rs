//! The assumptions of the simulation and its limits, for each line of the README's list of what is not covered.

/// A line of the README's list, and why no world of the simulation breaks it.
pub(crate) struct Line {
    /// The text in the README.
    pub(crate) readme: &'static str,
    /// What the simulation does instead.
    pub(crate) here: Here,
}

pub(crate) enum Here {
    /// The worlds satisfy this assumption.
    Assumed(&'static str),
    /// No world does this, for this reason.
    Outside(&'static str),
}

use Here::{Assumed, Outside};

pub(crate) const NOT_COVERED: &[Line] = &[
    Line {
        readme: "Two hosts that have the same worker id, or overlapping ranges of worker ids, at the same time.",
        here: Assumed("each machine has worker ids of its own, or leases them"),
    },
    Line {
        readme: "A worker id that moves without its record to a host whose clock is behind: a pod moved without \
                 its volume, a container on tmpfs that is recreated after the clock went back, another state \
                 directory. `no_record_wait_ms` waits for the difference; leases need no wait.",
        here: Assumed(
            "where the record is gone, the next start comes once the clock has passed what the last holder may have used, or \
             is behind that by less than `no_record_wait_ms`",
        ),
    },
    Line {
        readme: "Replicas that share no state directory and get the same ranges from their source.",
        here: Assumed("a source that repeats ranges repeats them to the machine that was given them"),
    },
    Line {
        readme: "A machine that is cloned, or reset to a snapshot, while leafid runs on it.",
        here: Outside("memory is copied by forks alone"),
    },
    Line {
        readme: "A machine that is cloned while it is stopped, with its worker ids, if both copies then run. (Ids \
                 that `keep_unused` stored are not used twice: they are valid for one boot of the machine.)",
        here: Outside("no machine is made from another"),
    },
    Line {
        readme: "A state directory or `file:` source that is restored from a backup, and a state file that is \
                 deleted.",
        here: Assumed(
            "a record that is lost or put back is followed by a pause of max_backwards_ms and three seconds, what was kept of \
             a tag is put back no sooner than its file's stamp shows, and counters are left alone",
        ),
    },
    Line {
        readme: "A database that loses commits which it has acknowledged, used from different hosts.",
        here: Assumed(
            "the lease server keeps what it has stored; a source that forgets does so towards one machine",
        ),
    },
    Line {
        readme: "Network file systems whose locks do not work, if `shared_fs` says that they do.",
        here: Assumed("a record's lock or a host lock may vanish, never both at once"),
    },
    Line {
        readme: "Disks that lie about fsync, together with a clock that went back.",
        here: Assumed("what was synced stays; a slot goes bad only while the clock does not go back"),
    },
    Line {
        readme: "`persist=false`, if the clock goes back between two starts.",
        here: Assumed(
            "where nothing is recorded, the next start comes once the clock has passed its highest reading",
        ),
    },
    Line {
        readme: "Schemes, layouts or epochs mixed in one column.",
        here: Assumed("a world has one layout, and snowflakes are not compared with ids of segments"),
    },
    Line {
        readme: "A Leaf in snowflake mode that repeats an id after more than 1,000 other ids of a tag, or after a \
                 restart and about 300: leafid remembers no more.",
        here: Outside("no world has a Leaf: its dialect gives ids one by one"),
    },
];

pub(crate) fn print() {
    println!("it assumes, of what the README does not cover:");
    for Line { readme, here } in NOT_COVERED {
        match here {
            Assumed(what) => println!("  {what} ({readme})"),
            Outside(why) => println!("  not played, for {why} ({readme})"),
        }
    }
}

#[test]
fn what_is_assumed_is_what_the_readme_says_is_not_covered() {
    let readme = include_str!("../../../../../README.md");
    let after = readme.split_once("\n### Not covered\n").map(|(_, after)| after);
    let section = after.and_then(|after| after.split("\n#").next()).unwrap_or_default();
    let lines: Vec<&str> = section.lines().filter_map(|line| line.strip_prefix("- ")).collect();
    let here: Vec<&str> = NOT_COVERED.iter().map(|line| line.readme).collect();
    assert_eq!(
        here, lines,
        "each line of README.md below \"Not covered\" stands here, and says what worlds do"
    );
}
