//! The fake server for servers, which misbehaves on command.
#![allow(dead_code)]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

pub(crate) struct FakeServer {
    process: Child,
    pipes: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    pub(crate) url: String,
}

impl FakeServer {
    pub(crate) fn new() -> FakeServer {
        FakeServer::with(&[])
    }

    /// With options of its own.
    pub(crate) fn with(options: &[&str]) -> FakeServer {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fake_servers/fake_server.py");
        let mut process = Command::new("python3")
            .args([program, "--seconds", "900"])
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut says = BufReader::new(process.stdout.take().unwrap());
        let mut port = || {
            let mut line = String::new();
            says.read_line(&mut line).unwrap();
            line.trim().rsplit(' ').next().unwrap().to_owned()
        };
        let url = format!("http://127.0.0.1:{}", port());
        port();
        FakeServer { pipes: Mutex::new((process.stdin.take().unwrap(), says)), process, url }
    }

    pub(crate) fn tell(&self, command: Value) -> Value {
        let (told, says) = &mut *self.pipes.lock().unwrap();
        writeln!(told, "{command}").unwrap();
        let mut line = String::new();
        says.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer.get("error").is_none(), "{answer}");
        answer
    }

    pub(crate) fn report(&self) -> Value {
        self.tell(json!({"do": "report", "requests": 0}))
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
