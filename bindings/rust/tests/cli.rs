//! The command line, by its function and as the program that cargo installs.
#![cfg(feature = "cli")]
#![allow(clippy::unwrap_used)]

mod common;

use common::Place;
use common::programs::command;
use leafid::{Layout, OnClockBackwards, Segment, Segments, TextForm};
use serde_json::Value;
use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Command, Output, Stdio};

fn program() -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_leafid"));
    for variable in ["LEAFID_WORKER", "LEAFID_STATE_DIR", "STATE_DIRECTORY"] {
        command.env_remove(variable);
    }
    command
}

/// A command in a place of its own.
fn on(place: &Place, arguments: &[&str]) -> Output {
    let here = ["--name", &place.name, "--state-dir", place.dir.path().to_str().unwrap()];
    program().args(arguments).args(here).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Waits until nothing holds a worker id that was closed. A program that another test starts has the locks of this one
/// until it runs, as each child of a user's has.
fn freed(place: &Place, worker_id: u32) {
    common::until("that the worker id is free", || {
        let shown = on(place, &["state", "show", &worker_id.to_string(), "--json"]);
        serde_json::from_str::<Value>(done(&shown)).unwrap()["held_by"] == Value::Null
    });
}

fn now_ms() -> i64 {
    std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as i64
}

/// The output of a command that must succeed and complain of nothing.
fn done(output: &Output) -> &str {
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{output:?}");
    text(&output.stdout)
}

/// What a command that must be refused complained of.
fn refused(output: &Output) -> &str {
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""), "{output:?}");
    text(&output.stderr)
}

/// An output that cannot be written.
struct Gone(ErrorKind);

impl Write for Gone {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(self.0.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for (kind, expected) in
        [(ErrorKind::BrokenPipe, 0), (ErrorKind::ConnectionReset, 0), (ErrorKind::StorageFull, 1)]
    {
        let mut err = Vec::new();
        let exit = leafid::cli::run(["--version"], &mut io::empty(), &mut Gone(kind), &mut err);
        assert_eq!((exit, err.is_empty()), (expected, expected == 0), "{kind}: {}", text(&err));
    }
}

#[test]
fn the_runs_that_end_alike_in_all_forms() {
    let vectors: Value = serde_json::from_str(include_str!("../../../tests/vectors/cli.json")).unwrap();
    let runs = vectors["runs"].as_array().unwrap();
    assert!(runs.len() > 10);
    for run in runs {
        let arguments: Vec<&str> =
            run["arguments"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let stdin = run["stdin"].as_str().unwrap();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let exit = leafid::cli::run(&arguments, &mut stdin.as_bytes(), &mut out, &mut err);
        let mut child = program()
            .args(&arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A child that refuses its arguments does not read.
        let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        let output = child.wait_with_output().unwrap();
        for (exit, out, err) in
            [(Some(exit), &out, &err), (output.status.code(), &output.stdout, &output.stderr)]
        {
            assert_eq!(exit, run["exit"].as_i64().map(|code| code as i32), "{run}: {}", text(err));
            let expected = run["stdout"].as_str().unwrap().replace("{version}", env!("CARGO_PKG_VERSION"));
            assert_eq!(text(out), expected, "{run}");
            match run["stderr"].as_str() {
                Some(expected) => assert_eq!(text(err), expected, "{run}"),
                None => assert!(text(err).contains("--help"), "{run}: {}", text(err)),
            }
        }
    }
}

#[test]
fn lines_are_answered_as_they_come_and_a_line_without_end_does_no_harm() {
    let mut child = program();
    child.arg("decode").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut answer = || {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        line
    };
    stdin.write_all(b"12\n1").unwrap();
    assert!(answer().starts_with("12\t"));
    stdin.write_all(b"3\n").unwrap();
    assert!(answer().starts_with("13\t"));
    stdin.write_all(&b"9".repeat(1 << 20)).unwrap();
    stdin.write_all(b"\n14\n").unwrap();
    assert!(answer().starts_with("14\t"));
    drop(stdin);
    let mut complaints = String::new();
    child.stderr.take().unwrap().read_to_string(&mut complaints).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    assert!(complaints.starts_with("leafid: line 3: ") && complaints.len() < 1_000, "{complaints}");
}

#[test]
fn ids_are_new_and_the_worker_id_is_let_go() {
    let place = Place::new();
    let mut last = 0;
    for count in [1, 10_000] {
        let output = on(&place, &["next", "-n", &count.to_string(), "--worker", "7"]);
        let ids: Vec<i64> = done(&output).lines().map(|line| line.parse().unwrap()).collect();
        assert_eq!(ids.len(), count);
        for id in ids {
            assert!(id > last && Layout::LEAF.decode(id).unwrap().worker_id == 7);
            last = id;
        }
    }
    let flake = place.builder().worker(7).open().unwrap();
    assert!(flake.next().unwrap() > last);
    let complaint = on(&place, &["next", "--worker", "7"]);
    let pid = format!("pid {}", std::process::id());
    assert!(refused(&complaint).contains("worker_in_use") && refused(&complaint).contains(&pid));
}

#[test]
fn ids_are_printed_in_a_form() {
    let place = Place::new();
    let mut last = 0;
    for form in TextForm::ALL {
        let output = on(&place, &["next", "-n", "5000", "--worker", "7", "--form", form.name()]);
        let texts: Vec<&str> = done(&output).lines().collect();
        assert_eq!(texts.len(), 5_000);
        for text in &texts {
            let id = form.parse_id(text).unwrap();
            assert!(id > last && Layout::LEAF.decode(id).unwrap().worker_id == 7, "{text}");
            last = id;
        }
        assert!(form == TextForm::Decimal || texts.is_sorted(), "{form:?}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_it_quietly() {
    let place = Place::new();
    let arguments = ["next", "-n", "100000000", "--worker", "7", "--name", &place.name, "--state-dir"];
    let mut child = program();
    child.args(arguments).arg(place.dir.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    // An output that fails otherwise is an error.
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = program().args(["decode", "7"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert!(refused(&output).contains("cannot write the output"));
}

#[test]
fn a_check_that_finds_all_well_leaves_nothing_behind() {
    let place = Place::new();
    let output = on(&place, &["check", "--worker", "0-3"]);
    let lines: Vec<&str> = text(&output.stdout).lines().collect();
    let checks = [
        "state directory",
        "file system",
        "durable write",
        "locks",
        "host lock",
        "clock",
        "boot clock",
        "coarse clock",
        "forks",
        "layout",
        "worker ids",
    ];
    assert_eq!(lines.len(), checks.len(), "{output:?}");
    for (line, check) in lines.iter().zip(checks) {
        assert!(line[9..].starts_with(check), "{line}");
        // The file system is what the machine of the tests has, which may also be slow.
        let is_slow = line.contains("calls wait for such writes");
        assert!(line.starts_with("ok ") || check == "file system" || is_slow, "{line}");
    }
    assert!(lines[0].contains("named by state_dir") && lines[10].contains("4 of 0-3 free"));
    assert_eq!(fs::read_dir(place.dir.path()).unwrap().count(), 0);
}

#[test]
fn a_check_says_what_is_wrong() {
    let place = Place::new();
    let file = place.dir.path().join("file");
    fs::write(&file, "").unwrap();
    let layout = ["--layout", "uid-generator"];
    let output = program().arg("check").args(layout).arg("--state-dir").arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = |output: &Output, parts: &[&str]| {
        let out = text(&output.stdout);
        assert!(out.lines().any(|line| parts.iter().all(|part| line.contains(part))), "{parts:?}: {out}");
    };
    said(&output, &["FAILED   state directory", "is not a directory"]);
    said(&output, &["FAILED   layout", "is past the layout uid-generator"]);
    // 40 bits of milliseconds from 1995 on end within the next years.
    let soon = fs::metadata(&file).unwrap().modified().unwrap();
    let soon_ms =
        soon.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64 - (1 << 40) + 86_400_000;
    let output = on(&place, &["check", "--layout", "40|10|12", "--epoch-ms", &soon_ms.to_string()]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    said(&output, &["warning  layout", "in less than five years"]);

    let flake = place.builder().worker(0).open().unwrap();
    let output = on(&place, &["check", "--worker", "0"]);
    assert_eq!(output.status.code(), Some(1));
    said(&output, &["FAILED   worker ids", "0 of 0 free, 1 held", &format!("pid {}", std::process::id())]);
    flake.close().unwrap();
    freed(&place, 0);
    let output = on(&place, &["check", "--worker", "hostname:not-this-host"]);
    assert!(refused(&output).contains("allowed: hosts called \"not-this-host-0\" with 0, "), "{output:?}");
    fs::write(place.file(1), "damaged").unwrap();
    let output = on(&place, &["check", "--worker", "0-2"]);
    assert_eq!(output.status.code(), Some(0));
    said(&output, &["warning  worker ids", "2 of 0-2 free", "1 unusable", "state_corrupt"]);
    // Of a range with such a record no process gets an id.
    place.builder().worker(2).layout(Layout::SONYFLAKE).open().unwrap().close().unwrap();
    freed(&place, 2);
    for worker in ["0-2", "2", "http://127.0.0.1:9"] {
        let output = on(&place, &["check", "--worker", worker]);
        assert_eq!(output.status.code(), Some(1));
        said(&output, &["FAILED   worker ids", "state_mismatch", "worker-2.state has the layout"]);
    }
}

#[test]
fn the_state_is_shown_with_holders_and_damage() {
    let place = Place::new();
    place.builder().worker(3).open().unwrap().close().unwrap();
    freed(&place, 3);
    let flake = place.builder().worker(12).open().unwrap();
    flake.next().unwrap();
    fs::write(place.file(5), "damaged").unwrap();
    fs::write(place.file(3).with_file_name("worker-007.state"), "nobody's").unwrap();
    let shown = on(&place, &["state", "show"]);
    assert_eq!(shown.status.code(), Some(1));
    let ids: Vec<&str> = text(&shown.stdout).lines().filter(|line| line.starts_with("worker id")).collect();
    assert_eq!(ids, [3, 12].map(|id| format!("worker id {id} of {:?}", place.name)));
    assert!(text(&shown.stderr).contains("worker id 5: state_corrupt"), "{shown:?}");
    let held = format!("held     by pid {}", std::process::id());
    assert!(text(&shown.stdout).contains("held     by nobody") && text(&shown.stdout).contains(&held));

    let until_ms = place.until_ms(12);
    let line = on(&place, &["state", "show", "12", "--json"]);
    let json: Value = serde_json::from_str(done(&line)).unwrap();
    // A running generator raises it meanwhile.
    assert!((until_ms..=place.until_ms(12)).contains(&json["until_ms"].as_i64().unwrap()), "{json}");
    assert!(json["lead_ms"].as_i64().unwrap() > 0 || now_ms() >= until_ms, "{json}");
    assert!(json["held_by"].as_str().unwrap().contains("pid"));
    flake.close().unwrap();
    freed(&place, 12);
    let missing = on(&place, &["state", "show", "9"]);
    assert!(refused(&missing).contains("worker-9.state"), "{missing:?}");
}

#[test]
fn a_reset_is_refused_while_held_and_burns_what_lies_ahead() {
    let place = Place::new();
    let layout = Layout::SONYFLAKE;
    let (last, until_ms) = loop {
        let flake = place.builder().worker(7).layout(layout).open().unwrap();
        let last = flake.next().unwrap();
        let held = on(&place, &["state", "reset", "7", "--confirm", "7"]);
        assert!(
            refused(&held).contains(&format!("worker_in_use: worker id 7 of {:?}", place.name)),
            "{held:?}"
        );
        assert!(refused(&held).contains(&format!("pid {}", std::process::id())), "{held:?}");
        let before = fs::read(place.file(7)).unwrap();
        flake.close().unwrap();
        freed(&place, 7);
        // As a crash in mid-run leaves it.
        fs::write(place.file(7), before).unwrap();
        let until_ms = place.until_ms(7);
        let reset = on(&place, &["state", "reset", "7", "--confirm", "7"]);
        if done(&reset).contains("skipped ") {
            break (last, until_ms);
        }
        // A first span ends half a second ahead: on a slow machine nothing of it is ahead any more.
        assert!(now_ms() >= until_ms, "{reset:?}");
    };
    let record = common::newest(&place.file(7));
    assert_eq!(record["burnt_ms"][0][1].as_i64().unwrap(), until_ms);
    assert_eq!(record["first_ms"], record["until_ms"]);
    assert!(record["granted_at_ms"].as_i64().unwrap() < until_ms);
    let wait = place.builder().worker(7).layout(layout).on_clock_backwards(OnClockBackwards::Wait);
    assert!(layout.decode(wait.open().unwrap().next().unwrap()).unwrap().timestamp_ms >= until_ms);
    assert!(layout.decode(last).unwrap().timestamp_ms < until_ms);
}

#[test]
fn a_directory_of_counters_is_made_shown_and_never_lowered() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("counters");
    let file = |command: &str, more: &[&str]| {
        program().args(["file", command]).arg(&path).args(more).stdin(Stdio::null()).output().unwrap()
    };
    let lines = |output: &Output| -> Vec<String> { done(output).lines().map(Into::into).collect() };
    let made = lines(&file("create", &["--tag", "order", "--step", "5000", "--tag", "a b"]));
    assert!(made[0].contains(" is file:"), "{made:?}");
    assert_eq!(made[1..], ["order\tnext 1\tstep 5000", "a b\tnext 1\tstep 5000"]);
    assert_eq!(lines(&file("create", &[])), made[..1], "one that is there is used as it is");
    let raised = lines(&file("create", &["--tag", "order", "--start", "9000"]));
    assert_eq!(raised[1..], ["order\tnext 9000\tstep 5000"]);
    let again = lines(&file("create", &["--tag", "order", "--start", "1", "--step", "10"]));
    assert_eq!(again[1..], ["order\tnext 9000\tstep 10"], "never lowered");
    assert_eq!(lines(&file("show", &[]))[1..], ["a b\tnext 1\tstep 5000", "order\tnext 9000\tstep 10"]);

    fs::write(path.join("tag-broken.counter"), "damaged").unwrap();
    let shown = file("show", &["--json"]);
    assert_eq!(shown.status.code(), Some(1));
    let shown: Vec<Value> =
        text(&shown.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&shown[1]["tag"], &shown[1]["next"]), (&"order".into(), &"9000".into()));
    assert_eq!(shown[2]["error"], "state_corrupt", "{shown:?}");
    fs::remove_file(path.join("leafid-file.marker")).unwrap();
    assert!(refused(&file("show", &[])).contains("unknown_tag"));
    assert!(refused(&file("create", &[])).contains("state_corrupt"));
}

#[test]
fn a_mark_is_shown_and_forgotten() {
    let place = Place::new();
    let ids = Segments::builder()
        .fetch(|request| {
            let start = request.after.max(1);
            Ok(Some(Segment::new(start, start + 100, 1).unwrap().into()))
        })
        .name(&place.name)
        .state_dir(place.dir.path())
        .timeout_ms(common::PATIENT_MS)
        .open()
        .unwrap();
    assert_eq!(ids.tag("order").unwrap().next().unwrap(), 1);
    ids.close().unwrap();
    let shown = on(&place, &["marks", "show"]);
    assert!(done(&shown).starts_with("order\tof callback\tmark "), "{shown:?}");
    let json = || serde_json::from_str::<Value>(done(&on(&place, &["marks", "show", "--json"]))).unwrap();
    assert_eq!((&json()["tag"], &json()["source"]), (&"order".into(), &"callback".into()));
    assert!(json()["mark"].as_str().unwrap().parse::<i64>().unwrap() > 100);
    let forget = |protocol: &str, confirm: &str| {
        on(&place, &["marks", "forget", "order", "--protocol", protocol, "--confirm", confirm])
    };
    assert!(refused(&forget("callback", "orders")).contains("invalid_argument: confirm"));
    assert!(refused(&forget("leaf", "order")).contains(": callback"), "it says whose there are");
    let forgotten = forget("callback", "order");
    assert!(done(&forgotten).contains("was forgotten"));
    assert_eq!(json()["mark"], "0");
}

#[test]
fn ids_of_segments_are_printed_and_none_is_lost_between_runs() {
    let place = Place::new();
    let path = place.dir.path().join("counters");
    let create =
        |tag: &str| program().args(["file", "create", "--tag", tag, "--json"]).arg(&path).output().unwrap();
    assert_eq!(serde_json::from_str::<Value>(done(&create("order"))).unwrap()["next"], "1");
    let server = format!("file:{}", path.display());
    let next = |more: &[&str]| {
        let segments = ["next", "--tag", "order", "--timeout-ms", "60000", "--server", &server];
        on(&place, &[&segments, more].concat())
    };
    assert_eq!(done(&next(&["-n", "2"])), "1\n2\n");
    assert_eq!(done(&next(&["--step", "100", "--json"])), "{\"id\":\"3\"}\n");
    let more = next(&["-n", "5000"]);
    let ids: Vec<i64> = done(&more).lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(ids, (4..5_004).collect::<Vec<_>>(), "with those that the last run left");
    assert!(refused(&next(&["--protocol", "range"])).contains("protocol"));
    let unknown = on(&place, &["next", "--tag", "none", "--server", &server]);
    assert!(refused(&unknown).contains("unknown_tag"), "{unknown:?}");
    done(&create("order-x5"));
    let of_blocks = ["next", "--tag", "order-x5", "--server", &server];
    assert!(refused(&on(&place, &of_blocks)).contains("set block_size to 1"));
    assert_eq!(done(&on(&place, &[&of_blocks[..], &["--block-size", "1"]].concat())), "1\n");
    let token = ["next", "--tag", "order", "--server", "http://127.0.0.1:1", "--token-file", "/not-there"];
    assert!(refused(&on(&place, &token)).contains("token_file is \"/not-there\""));
}

#[test]
fn every_command_that_changes_something_can_tell_it_as_json() {
    let place = Place::new();
    let json = |output: &Output| -> Vec<Value> {
        done(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let made = json(&on(&place, &["next", "-n", "3", "--worker", "7", "--json"]));
    let ids: Vec<i64> = made.iter().map(|line| line["id"].as_str().unwrap().parse().unwrap()).collect();
    assert!(ids.len() == 3 && ids.is_sorted());
    let checks = json(&on(&place, &["check", "--worker", "7", "--json"]));
    let locks = checks.iter().find(|line| line["check"] == "locks").unwrap();
    assert_eq!((&locks["status"], checks.len()), (&"ok".into(), 11));
    let reset = json(&on(&place, &["state", "reset", "7", "--confirm", "7", "--json"]));
    assert_eq!((&reset[0]["worker_id"], reset.len()), (&7.into(), 1));
    assert_eq!(reset[0]["after_ms"][0], reset[0]["after_ms"][1], "its run is over");
}

#[test]
fn init_gives_no_worker_id_to_two_hosts() {
    let init =
        |arguments: &[&str]| program().arg("init").args(arguments).stdin(Stdio::null()).output().unwrap();
    let ranges = |text: &str| {
        let values = text.split("LEAFID_WORKER=").skip(1).map(|rest| rest.lines().next().unwrap());
        let ends = values.map(|range| range.split_once('-').unwrap());
        ends.map(|(first, last)| (first.parse().unwrap(), last.parse().unwrap())).collect::<Vec<(u32, u32)>>()
    };
    for on in ["hosts", "systemd"] {
        let output = init(&["--on", on, "--hosts", "40", "--processes", "8"]);
        let found = ranges(done(&output));
        assert_eq!((found.len(), found[0], found[39]), (40, (0, 15), (624, 639)), "{on}");
        assert!(found.windows(2).all(|two| two[0].1 < two[1].0), "{on}");
    }
    let output = init(&["--on", "hosts", "--hosts", "65", "--processes", "8"]);
    assert!(done(&output).starts_with("# They need 1040 worker ids, and the layout has 1024: lease them."));
    let output = init(&["--on", "statefulset", "--hosts", "3", "--processes", "2", "--service", "billing"]);
    assert!(
        done(&output).contains("value: \"hostname:billing*4-11\"") && done(&output).contains("NAME+12*4")
    );
    assert!(
        done(&init(&["--on", "leases", "--hosts", "3", "--processes", "1"]))
            .contains("LEAFID_WORKER=http://")
    );
    assert!(done(&init(&["--on", "local"])).contains("export LEAFID_WORKER=local"));
}

#[test]
fn init_asks_for_what_it_is_not_told() {
    let answered = |answers: &str| {
        let mut child = program()
            .arg("init")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    };
    let output = answered("systemd\n2\n\n");
    assert!(text(&output.stdout).contains("Environment=LEAFID_WORKER=2-3"), "{output:?}");
    assert!(text(&output.stderr).contains("How many hosts, containers or pods at most? [1] "), "{output:?}");
    let output = answered("vms\n");
    assert!(text(&output.stderr).contains("the answer is \"vms\"; allowed:"), "{output:?}");
    assert_eq!(output.status.code(), Some(1));
}
