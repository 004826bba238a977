//! Servers of a test, and their store: a new SQLite file, or what LEAFID_SERVER_TEST_STORE names.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test uses some of it")]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_leafid-server");

/// A server on a free port. It is killed when dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn new(store: &str) -> Server {
        Server::with(store, &[])
    }

    pub(crate) fn with(store: &str, options: &[&str]) -> Server {
        Server::within(store, options, &[])
    }

    /// `environment`: variables and their values.
    pub(crate) fn within(store: &str, options: &[&str], environment: &[(&str, &str)]) -> Server {
        let mut process = Command::new(PROGRAM)
            .args(["--store", store, "--listen", "127.0.0.1:0"])
            .args(options)
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut said = Vec::new();
        let line =
            lines.by_ref().inspect(|line| said.push(line.clone())).find(|line| line.contains("listens on"));
        let line = line.unwrap_or_else(|| panic!("it ended: {said:#?}"));
        let address = line.split("listens on ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
        let url = format!("http://{address}");
        thread::spawn(move || lines.for_each(drop));
        Server { process, url }
    }

    /// Ends it in good order.
    pub(crate) fn stop(mut self) -> ExitStatus {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.process.wait().unwrap()
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where stores are: in memory, if /dev/shm is there. No answer waits for a slow disk.
pub(crate) fn memory() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

/// A store with this tag.
pub(crate) struct Store {
    pub(crate) url: String,
    pub(crate) tag: String,
    file: Option<PathBuf>,
}

impl Store {
    pub(crate) fn new(test: &str) -> Store {
        let own = format!("{test}-{}", std::process::id());
        let file = memory().join(format!("leafid-server-{own}.db"));
        let given = std::env::var("LEAFID_SERVER_TEST_STORE").ok();
        let url = given.clone().unwrap_or_else(|| file.to_string_lossy().into_owned());
        let made =
            Command::new(PROGRAM).args(["--store", &url, "tag", &own, "--step", "100"]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        Store { url, tag: own, file: given.is_none().then_some(file) }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        for file in self.file.iter() {
            for end in ["", "-wal", "-shm"] {
                let _ = std::fs::remove_file(format!("{}{end}", file.display()));
            }
        }
    }
}
