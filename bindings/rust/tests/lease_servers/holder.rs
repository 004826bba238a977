//! A process that holds a lease, to be killed.

use crate::common::forks::{plain_fork, start_child};
use crate::common::programs::this_program;
use crate::common::{HANG, PATIENT_MS, Place};
use leafid::Snowflake;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};
use std::time::Duration;

/// A process that leases a worker id of a server, issues ids and says them, and then carries out commands.
pub(crate) struct Holder {
    pub(crate) process: Child,
    lines: Box<dyn Iterator<Item = String>>,
}

pub(crate) fn holder(place: &Place, url: &str, then: &str) -> Holder {
    let mut process = this_program()
        .args(["--exact", "holder::holds", "--ignored", "--nocapture"])
        .env("LEAFID_TEST_PLACE", place.dir.path())
        .env("LEAFID_TEST_SPACE", &place.name)
        .env("LEAFID_TEST_URL", url)
        .env("LEAFID_TEST_THEN", then)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let said = |line: String| line.split_once("says ").map(|(_, said)| said.to_owned());
    Holder { process, lines: Box::new(lines.map_while(Result::ok).filter_map(said)) }
}

impl Holder {
    pub(crate) fn say(&mut self) -> String {
        self.lines.next().unwrap()
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// Run by other tests only.
#[test]
#[ignore = "a helper process of other tests"]
fn holds() {
    let Ok(dir) = std::env::var("LEAFID_TEST_PLACE") else { return };
    let of = |name| std::env::var(name).unwrap();
    let builder = Snowflake::builder().state_dir(dir).name(of("LEAFID_TEST_SPACE"));
    let builder = builder.timeout_ms(PATIENT_MS).request_timeout_ms(PATIENT_MS);
    let say = |text: &dyn std::fmt::Display| {
        println!("\nsays {text}");
        std::io::stdout().flush().unwrap();
    };
    let flake = match builder.worker(of("LEAFID_TEST_URL")).open() {
        Ok(flake) => flake,
        Err(error) => return say(&error),
    };
    for _ in 0..20 {
        say(&flake.next().unwrap());
    }
    match of("LEAFID_TEST_THEN").as_str() {
        "close" => {
            flake.close().unwrap();
            say(&"closed");
        }
        // A child that continues once its parent is gone.
        "fork" => {
            let parent = std::process::id() as i32;
            let (_, reader) = start_child(plain_fork, |_| {
                say(&flake.next().unwrap_err());
                // SAFETY: asks for a number.
                while unsafe { libc::getppid() } == parent {
                    std::thread::sleep(Duration::from_millis(2));
                }
                say(&flake.next().unwrap());
                flake.close().unwrap();
                say(&"closed");
            });
            std::mem::forget(reader);
            std::thread::sleep(HANG);
        }
        _ => std::thread::sleep(HANG),
    }
}
