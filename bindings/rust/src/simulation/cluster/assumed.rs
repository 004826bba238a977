//! The assumptions of the simulation and its limits, for each line of what docs/RELIABILITY.md does not promise.

/// A line of the list, and why no world of the simulation breaks it.
pub(crate) struct Line {
    /// What is not covered.
    pub(crate) row: &'static str,
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
        row: "two hosts with the same worker id, or overlapping ranges of worker ids, at the same time",
        here: Assumed("each machine has worker ids of its own, or leases them"),
    },
    Line {
        row: "host names with one number: two StatefulSets, or one in two clusters, regions or namespaces",
        here: Assumed("each machine has worker ids of its own, or leases them"),
    },
    Line {
        row: "lease servers with different stores, or leases beside fixed worker ids or ranges",
        here: Assumed("a world has one lease server, and no fixed worker ids beside its leases"),
    },
    Line { row: "two names in one column", here: Assumed("a world has one id space") },
    Line {
        row: "a StatefulSet's pod that was deleted by force (`kubectl delete --force`, a lost node that was given up) and still runs",
        here: Assumed("each machine has worker ids of its own, or leases them"),
    },
    Line {
        row: "a worker id that goes on without its record, where the clock is behind its last id",
        here: Assumed(
            "where the record is gone, the next start comes once the clock has passed what the last holder may have used, or \
             is behind that by less than `no_record_wait_ms`",
        ),
    },
    Line {
        row: "replicas that share no state directory and get the same ranges from their source",
        here: Assumed("a source that repeats ranges repeats them to the machine that was given them"),
    },
    Line {
        row: "a source that gives one range to two hosts",
        here: Assumed("a source that repeats ranges repeats them to the machine that was given them"),
    },
    Line {
        row: "a machine cloned or reset while it runs, or cloned while it is stopped and both copies run",
        here: Outside("memory is copied by forks alone, and no machine is made from another"),
    },
    Line {
        row: "a snapshot of a running process that is started again (CRaC, Lambda SnapStart, CRIU)",
        here: Outside("memory is copied by forks alone, and no machine is made from another"),
    },
    Line {
        row: "a state directory or `file:` source restored from a backup, or a state file deleted",
        here: Assumed(
            "a record that is lost or put back is followed by a pause of max_backwards_ms and three seconds, what was kept of \
             a tag is put back no sooner than its file's stamp shows, and counters are left alone",
        ),
    },
    Line {
        row: "an id server's store that was lost or is empty: a volume not mounted, another folder, a container without its volume",
        here: Assumed(
            "the lease server keeps what it has stored; a source that forgets does so towards one machine",
        ),
    },
    Line {
        row: "a database that loses acknowledged commits, used from different hosts",
        here: Assumed(
            "the lease server keeps what it has stored; a source that forgets does so towards one machine",
        ),
    },
    Line {
        row: "a database with several primaries (circular replication, BDR, multi-master)",
        here: Assumed("a source and a lease server have one state, and no second primary"),
    },
    Line {
        row: "network file systems without working locks, if `shared_fs` says that they work, or leafid does not know them",
        here: Assumed("a record's lock or a host lock may vanish, never both at once"),
    },
    Line {
        row: "disks that lie about `fsync`",
        here: Assumed("what was synced stays; a slot goes bad only while the clock does not go back"),
    },
    Line {
        row: "`persist = false`",
        here: Assumed(
            "where nothing is recorded, the next start comes once the clock has passed its highest reading",
        ),
    },
    Line {
        row: "two tags, or two sources of a tag that count by themselves, in one column",
        here: Assumed("ids of one tag are compared, and a tag has one counter"),
    },
    Line {
        row: "schemes, layouts, epochs or generators of different software mixed in one column",
        here: Assumed("a world has one layout, and snowflakes are not compared with ids of segments"),
    },
    Line {
        row: "a Leaf in snowflake mode that repeats an id after more than 1,000 other ids of a tag, or to another process after about 300",
        here: Outside("no world has a Leaf: its dialect gives ids one by one"),
    },
    Line {
        row: "a fork in a signal handler between the last check of `next` and its return",
        here: Outside("forks come between two calls"),
    },
];

pub(crate) fn print() {
    println!("it assumes, of what is not promised:");
    for Line { row, here } in NOT_COVERED {
        match here {
            Assumed(what) => println!("  {what} ({row})"),
            Outside(why) => println!("  not played, for {why} ({row})"),
        }
    }
}

#[test]
fn what_is_assumed_is_what_is_not_promised() {
    let page = include_str!("../../../../../docs/RELIABILITY.md");
    let after = page.split_once("\n## What is not promised\n").map(|(_, after)| after);
    let section = after.and_then(|after| after.split("\n## ").next()).unwrap_or_default();
    let section = section.split_whitespace().collect::<Vec<_>>().join(" ");
    let rows: Vec<&str> =
        section.split("* **").skip(1).filter_map(|line| Some(line.split_once("**:")?.0)).collect();
    let here: Vec<&str> = NOT_COVERED.iter().map(|line| line.row).collect();
    assert_eq!(here, rows, "each row stands here, and says what worlds do");
}
