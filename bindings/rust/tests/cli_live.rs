//! The commands of the command line that look at a running host: watch, bench; and those made from its declaration.
#![cfg(all(feature = "cli", feature = "http"))]
#![allow(clippy::unwrap_used)]

mod common;

use common::programs::command;
use common::{PATIENT_MS, Place};
use leafid::{FileTag, Segments};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn program() -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_leafid"));
    for variable in ["LEAFID_WORKER", "LEAFID_STATE_DIR", "STATE_DIRECTORY"] {
        command.env_remove(variable);
    }
    command
}

fn on(place: &Place, arguments: &[&str]) -> Output {
    let dir = place.dir.path().to_str().unwrap();
    program().args(arguments).args(["--state-dir", dir]).stdin(Stdio::null()).output().unwrap()
}

fn done(output: &Output) -> &str {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    std::str::from_utf8(&output.stdout).unwrap()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Serves the metrics of this process, as an application does, to this number of requests.
fn serve_metrics(requests: usize) -> String {
    serve(requests, leafid::metrics)
}

fn serve(requests: usize, page: fn() -> String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/metrics", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for _ in 0..requests {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = BufReader::new(stream.try_clone().unwrap()).lines();
            while request.next().unwrap().unwrap() != "" {}
            let page = page();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}",
                page.len()
            )
            .unwrap();
        }
    });
    url
}

#[test]
fn worker_ids_and_segments_are_watched_with_their_rates() {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    flake.next().unwrap();
    let counters = place.dir.path().join("counters");
    let ids = Segments::builder()
        .servers([format!("file:{}", counters.display())])
        .create(true)
        .tags([("order", FileTag { start: 1, step: 1_000 })])
        .name(&place.name)
        .state_dir(place.dir.path())
        .timeout_ms(PATIENT_MS)
        .open()
        .unwrap();
    let tag = ids.tag("order").unwrap();
    tag.take(10).unwrap();
    let url = serve_metrics(2);
    let until_ms = place.until_ms(7);
    let mut watching = program()
        .args(["watch", "--json", "--count", "2", "--interval-ms", "2000"])
        .args(["--name", &place.name, "--metrics"])
        .arg(&url)
        .arg("--state-dir")
        .arg(place.dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(watching.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
    flake.take(5_000).unwrap();
    tag.take(3_000).unwrap();
    let second: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
    assert!(watching.wait().unwrap().success());

    let worker = &first["workers"][0];
    assert_eq!((&worker["name"], &worker["worker_id"]), (&place.name.as_str().into(), &7.into()));
    let pid = format!("pid {}", std::process::id());
    assert!(worker["held_by"].as_str().unwrap().starts_with(&pid), "{first}");
    assert!((until_ms..=place.until_ms(7)).contains(&worker["until_ms"].as_i64().unwrap()), "{first}");
    assert_eq!(worker["ids_per_second"], Value::Null, "there is no look before the first");
    let (fill, mark) = (&first["segments"][0], &first["marks"][0]);
    assert_eq!((&fill["tag"], &fill["step"]), (&"order".into(), &1_000.0.into()), "{first}");
    assert!((990.0..=1_990.0).contains(&fill["left"].as_f64().unwrap()), "{first}");
    assert!(mark["mark"].as_str().unwrap().parse::<i64>().unwrap() > 1_000, "{first}");
    assert_eq!(first["errors"], serde_json::json!([]));
    let mark = |look: &Value| look["marks"][0]["mark"].as_str().unwrap().parse::<f64>().unwrap();
    let fetched = mark(&second) - mark(&first);
    // At least 2 s lie between the looks, and more on a busy machine.
    for (found, ids) in [
        (&second["workers"][0]["ids_per_second"], 5_000.0),
        (&second["segments"][0]["ids_per_second"], 3_000.0),
        (&second["marks"][0]["fetched_per_second"], fetched),
    ] {
        let rate = found.as_f64().unwrap();
        assert!(rate > 0.0 && rate <= ids / 2.0, "{rate}: {second}");
    }
}

#[test]
fn a_watch_without_a_terminal_is_plain_text() {
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let output =
        on(&place, &["watch", "--count", "2", "--interval-ms", "50", "--metrics", "http://127.0.0.1:1/"]);
    let text = done(&output);
    assert!(!text.contains('\x1b'), "{text}");
    let looks: Vec<_> = text.trim_end().split("\n\n").collect();
    assert_eq!(looks.len(), 2, "{text}");
    for look in looks {
        let held = format!("worker 7 of {}  ? ids/s  durable for ", place.name);
        assert!(look.contains(&held) && look.contains(&format!("by pid {}", std::process::id())), "{look}");
        assert!(
            look.contains("\nno tag has a mark\n") && look.contains("\nerror  http://127.0.0.1:1/: "),
            "{look}"
        );
    }
    flake.close().unwrap();
    // A program that another test starts has the locks of this one until it runs.
    common::until("that no worker id is held", || {
        done(&on(&place, &["watch", "--count", "1"])).contains("no worker id is held\n")
    });
    let nothing = place.dir.path().join("not-there");
    let output = program().args(["watch", "--count", "1", "--state-dir"]).arg(nothing).output().unwrap();
    assert!(done(&output).contains("no worker id is held\n"));
}

/// Waits for a program with a limit.
#[cfg(unix)]
fn ended(mut child: Child) -> std::process::ExitStatus {
    for _ in 0..common::HANG.as_millis() / 10 {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap()
}

/// On a terminal that `script` makes; once started as by a script in its background, which ignores interrupts.
#[cfg(target_os = "linux")]
#[test]
fn a_watch_on_a_terminal_draws_over_itself_and_ends_with_ctrl_c() {
    for interrupts in ["-", "''"] {
        watch_until_interrupted(interrupts);
    }
}

#[cfg(target_os = "linux")]
fn watch_until_interrupted(interrupts: &str) {
    use std::os::unix::process::ExitStatusExt;
    let place = Place::new();
    let flake = place.builder().worker(7).open().unwrap();
    let (dir, program) = (place.dir.path().display(), env!("CARGO_BIN_EXE_leafid"));
    let line = format!("trap {interrupts} INT; exec {program} watch --interval-ms 50 --state-dir {dir}");
    let on_terminal = command("script")
        .args(["-qefc", &line, "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    // A part of util-linux, which a small system may lack.
    let Ok(mut child) = on_terminal else { return };
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = String::new();
    let mut part = [0; 4_096];
    while seen.matches("\x1b[H").count() < 3 {
        let read = stdout.read(&mut part).unwrap();
        assert!(read > 0, "{seen:?}");
        seen.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    assert!(seen.starts_with("\x1b[2J\x1b[H") && seen.contains("worker 7 of "), "{seen:?}");
    stdin.write_all(b"\x03").unwrap();
    std::thread::spawn(move || stdout.read_to_end(&mut Vec::new()));
    let status = ended(child);
    // `script` tells how its program ended: by the interrupt.
    assert!(status.code() == Some(130) || status.signal() == Some(2), "{status:?}");
    drop(flake);
}

#[test]
fn a_bench_measures_and_leaves_nothing_behind() {
    let place = Place::new();
    let output = on(&place, &["bench", "--seconds", "1", "--threads", "2", "--json"]);
    let found = &lines(done(&output))[0];
    let number = |name: &str| found[name].as_u64().unwrap();
    assert_eq!((number("threads"), number("layout_ids_per_second")), (2, 4_096_000));
    assert!(number("ids_per_second") > 0 && number("ids_per_second") <= 4_096_000 * 2, "{found}");
    let histogram = found["histogram"].as_array().unwrap();
    let calls: u64 = histogram.iter().map(|bucket| bucket["calls"].as_u64().unwrap()).sum();
    assert!(calls > 0 && calls == number("calls"), "{found}");
    assert!(number("p50_ns") <= number("p99_ns") && number("p99_ns") <= number("p999_ns"), "{found}");
    assert_eq!(fs::read_dir(place.dir.path()).unwrap().count(), 0);
    let text = on(&place, &["bench", "--seconds", "1", "--layout", "sonyflake"]);
    let text = done(&text);
    assert!(text.contains("; the layout allows 25600\n") && text.contains("##"), "{text}");
}

/// What can stand for the last of these words.
fn offers(words: &[&str]) -> Vec<String> {
    let output = program().args(["completion", "bash", "--", "leafid"]).args(words).output().unwrap();
    done(&output).lines().map(str::to_owned).collect()
}

#[test]
fn completions_and_the_manual_have_every_command_and_option() {
    let page = program().arg("man").output().unwrap();
    let page = done(&page).replace("\\-", "-");
    assert!(
        page.starts_with(".TH leafid 1")
            && page.ends_with(".SH EXIT STATUS\n0: done. 1: refused or failed. 2: invalid arguments.\n"),
        "{page}"
    );
    let (mut left, mut seen) = (vec![Vec::<String>::new()], 0);
    while let Some(words) = left.pop() {
        let help = program().args(&words).arg("--help").output().unwrap();
        let help = done(&help);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let below =
            help.split("Commands:\n").nth(1).and_then(|below| below.split("\n\n").next()).unwrap_or_default();
        let below: Vec<&str> = below.lines().filter_map(|line| line.split_whitespace().next()).collect();
        let offered = offers(&[&words[..], &[""]].concat());
        below
            .iter()
            .for_each(|name| assert!(offered.iter().any(|word| word == name), "{words:?}: {offered:?}"));
        let section = page.split(&format!(".SH \"LEAFID {}\"\n", words.join(" ").to_uppercase())).nth(1);
        let section = section.unwrap_or_default().split("\n.SH ").next().unwrap();
        for option in help.lines().filter_map(|line| line.trim_start().strip_prefix("--")) {
            let option = format!("--{}", option.split([' ', '=']).next().unwrap());
            assert!(offered.contains(&option), "{words:?}, {option}: {offered:?}");
            assert!(
                !below.is_empty() || section.contains(&format!("\\fB{option}")),
                "{words:?}, {option}: {section}"
            );
            seen += 1;
        }
        left.extend(
            below.iter().map(|name| words.iter().chain([name]).map(|&word| word.to_owned()).collect()),
        );
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn what_is_offered_is_of_the_command_that_the_words_call() {
    assert_eq!(offers(&["wat"]), ["watch"]);
    assert_eq!(offers(&["state", "re"]), ["reset"]);
    assert_eq!(offers(&["state", "reset", "--c"]), ["--confirm"]);
    assert_eq!(offers(&["completion", "z"]), ["zsh"]);
    // Of a value nothing is known. One that is the name of a command calls none.
    assert_eq!(offers(&["watch", "--name", ""]), [""; 0]);
    assert_eq!(offers(&["--unknown", "file", "c"]), ["create"]);
    assert_eq!(offers(&["next", "--name", "state", "--wo"]), ["--worker"]);
}

#[test]
fn each_shell_that_is_here_completes_by_its_script() {
    let asked = [
        (
            "bash",
            "source <($0 completion bash); COMP_WORDS=($0 state re) COMP_CWORD=2; _leafid; echo $COMPREPLY",
        ),
        // zsh completes on terminals alone: here is what it would be offered.
        (
            "zsh",
            "compdef() { }; _describe() { print -r -- ${offered%%:*} }; source <($0 completion zsh); \
             words=($0 state re) CURRENT=3; _leafid",
        ),
        (
            "fish",
            "$argv[1] completion fish | source; complete -C \"$argv[1] state re\" | string replace -r '\\t.*' ''",
        ),
    ];
    for (shell, script) in asked {
        if let Ok(output) = command(shell).args(["-c", script, env!("CARGO_BIN_EXE_leafid")]).output() {
            assert_eq!(done(&output), "reset\n", "{shell}");
        }
    }
}

#[test]
fn a_check_against_another_host_finds_the_worker_ids_that_both_have() {
    // This process plays the other host: its metrics are all that is seen of it.
    let (there, here) = (Place::new(), Place::new());
    let flake = there.builder().worker(7).open().unwrap();
    flake.next().unwrap();
    let url = serve_metrics(3);
    let check = |ids: &str, urls: &[&str]| {
        let mut arguments = vec!["check", "--worker", ids, "--json", "--name", &there.name];
        arguments.extend(urls.iter().flat_map(|url| ["--against", url]));
        let output = on(&here, &arguments);
        let said: Vec<(Value, String)> = lines(std::str::from_utf8(&output.stdout).unwrap())
            .into_iter()
            .filter(|line| line["check"] == "other hosts")
            .map(|line| (line["status"].clone(), line["detail"].as_str().unwrap().to_owned()))
            .collect();
        (output.status.code(), said)
    };
    let (code, said) = check("6-7", &[&url]);
    assert_eq!((code, &said[0].0), (Some(1), &"failed".into()), "{said:?}");
    assert!(
        said[0].1.starts_with(&format!("{url}: worker id 7 of {:?} is in use there", there.name)),
        "{said:?}"
    );
    let (code, said) = check("8-9", &[&url]);
    assert_eq!((code, &said[0].0), (Some(0), &"ok".into()), "{said:?}");
    // One that does not answer fails the check, and the others are asked all the same.
    let (code, said) = check("8-9", &["http://127.0.0.1:1/metrics", &url]);
    assert_eq!(code, Some(1));
    assert!(said[0].1.starts_with("http://127.0.0.1:1/metrics: no answer: "), "{said:?}");
    assert_eq!((said.len(), &said[1].0), (2, &"ok".into()), "{said:?}");
}

/// A package has the command line, and no folder docs/.
#[test]
fn messages_name_pages_that_help_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = program().arg("help").output().unwrap();
    let topics: Vec<&str> = done(&list).lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    for topic in &topics {
        let page = fs::read_to_string(root.join(format!("docs/{}.md", topic.to_uppercase()))).unwrap();
        assert_eq!(done(&program().args(["help", topic]).output().unwrap()), page, "{topic}");
    }
    let mut left = ["core/src", "bindings", "server/src", "node/js"].map(|folder| root.join(folder)).to_vec();
    let mut named = BTreeSet::new();
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.to_string_lossy();
        if !(name.ends_with(".rs") || name.ends_with(".js")) || name.contains("/tests/") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with(['/', '*'])) {
            let is_message = line.contains("docs/") && !line.contains("include_str!");
            assert!(!is_message, "{name} names a file that packages do not have: {line}");
            let after = line.split("leafid help ").skip(1);
            named.extend(
                after.map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).next().unwrap().to_owned()),
            );
        }
    }
    // That of the list itself.
    named.remove("");
    assert!(named.len() > 4, "{named:?}");
    named.iter().for_each(|name| assert!(topics.contains(&name.as_str()), "{name} is none of {topics:?}"));
}

#[test]
fn the_commands_of_the_page_of_duplicates_say_what_it_says() {
    let page = include_str!("../../../docs/DUPLICATES.md");
    let url = serve(1, || {
        "leafid_snowflake_handles{name=\"default\",worker_id=\"7\",state_dir=\"/s\",layout=\"leaf\"} 1\n"
            .into()
    });
    let place = Place::new();
    let mut said = Vec::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("    leafid ")) {
        let command = line.split(" #").next().unwrap().trim().replace("http://other:8000/metrics", &url);
        let mut words: Vec<&str> = command.split(' ').collect();
        let places = ["state", "check"].contains(&words[0]);
        let dir = place.dir.path().to_str().unwrap();
        words.extend(["--state-dir", dir].iter().filter(|_| places));
        let output = program().args(&words).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        said.push((words[0].to_owned(), output.status.code(), text));
    }
    let [decode, show, check, at] = &said[..] else { panic!("{said:?}") };
    assert!(decode.1 == Some(0) && decode.2.contains("39"), "{decode:?}");
    assert_eq!(show.1, Some(0), "{show:?}");
    assert!(
        check.1 == Some(1) && check.2.contains("worker id 7 of \"default\" is in use there"),
        "{check:?}"
    );
    let ends: Vec<&str> = at.2.split_whitespace().collect();
    assert!(page.contains(&format!("id BETWEEN {} AND {} AND", ends[1], ends[5])), "{at:?}");
}
