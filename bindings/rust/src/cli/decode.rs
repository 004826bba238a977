//! `leafid decode`: shows the parts of ids.

use super::options::{Bits, Form};
use super::streams::{Outcome, Streams};
use crate::{Layout, Parts, Result, TextForm, Utc};
use clap::Args;
use std::io;

/// A longer line holds no id, and the rest of it is not stored.
const LONGEST_LINE: usize = 256;

/// Show the parts of ids, from arguments or one per line from standard input
///
/// Prints one line for each: the id, its time, worker id and sequence number, separated by tabs.
#[derive(Args)]
pub(super) struct DecodeArguments {
    /// The ids
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    ids: Vec<String>,
    #[command(flatten)]
    bits: Bits,
    #[command(flatten)]
    form: Form,
    /// The form in which ids are printed [default: as they are read]
    #[arg(long, value_name = "FORM", value_parser = TextForm::parse)]
    to: Option<TextForm>,
    /// Print each as a line of JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn decode(arguments: &DecodeArguments, streams: &mut Streams<'_>) -> Outcome {
    let layout = arguments.bits.layout()?;
    let mut all = true;
    if !arguments.ids.is_empty() {
        for text in &arguments.ids {
            match line(text, &layout, arguments) {
                Ok(line) => writeln!(streams.stdout, "{line}")?,
                Err(error) => {
                    all = false;
                    streams.complain(error);
                }
            }
        }
        return Ok(all);
    }
    let mut lines = InputLines::default();
    loop {
        let more = match lines.read(streams) {
            Ok(more) => more,
            Err(error) => {
                streams.complain(format!("cannot read the standard input: {error}"));
                return Ok(false);
            }
        };
        while let Some((number, text)) = lines.next(more) {
            let text = text.trim_ascii();
            if text.is_empty() {
                continue;
            }
            match line(&String::from_utf8_lossy(text), &layout, arguments) {
                Ok(line) => writeln!(streams.stdout, "{line}")?,
                Err(error) => {
                    all = false;
                    streams.complain(format!("line {number}: {error}"));
                }
            }
        }
        // The output is written before more input is awaited.
        streams.stdout.flush()?;
        if !more {
            return Ok(all);
        }
    }
}

fn line(text: &str, layout: &Layout, arguments: &DecodeArguments) -> Result<String> {
    let id = arguments.form.parse_id(text)?;
    let parts = layout.decode(id)?;
    let id = match arguments.to {
        Some(form) => form.format_id(id)?,
        None => arguments.form.format_id(id)?,
    };
    Ok(parts_line(&id, &parts, arguments.json))
}

/// The line of an id and its parts.
pub(super) fn parts_line(id: &str, parts: &Parts, json: bool) -> String {
    let &Parts { timestamp_ms, worker_id, sequence, .. } = parts;
    let time = Utc(timestamp_ms);
    match json {
        true => format!(
            "{{\"id\":\"{id}\",\"timestamp_ms\":{timestamp_ms},\"time\":\"{time}\",\"worker_id\":{worker_id},\
             \"sequence\":{sequence}}}"
        ),
        false => format!("{id}\t{time}\tworker {worker_id}\tsequence {sequence}"),
    }
}

/// The lines of the input.
#[derive(Default)]
struct InputLines {
    kept: Vec<u8>,
    taken: usize,
    number: u64,
}

impl InputLines {
    /// Waits for more input and returns whether more may follow.
    fn read(&mut self, streams: &mut Streams<'_>) -> io::Result<bool> {
        self.kept.drain(..self.taken);
        self.taken = 0;
        loop {
            let read = match streams.stdin.fill_buf() {
                Ok(bytes) => {
                    self.kept.extend_from_slice(bytes);
                    bytes.len()
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            streams.stdin.consume(read);
            return Ok(read > 0);
        }
    }

    /// The next complete line, or at the end of the input also the last one.
    fn next(&mut self, more: bool) -> Option<(u64, &[u8])> {
        let rest = self.kept.get(self.taken..)?;
        let end = match rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => end,
            None if more || rest.is_empty() => {
                // A line without an end must not fill the memory.
                self.kept.truncate(self.taken + LONGEST_LINE);
                return None;
            }
            None => rest.len(),
        };
        let from = self.taken;
        self.taken = (from + end + 1).min(self.kept.len());
        self.number += 1;
        Some((self.number, &self.kept[from..from + end.min(LONGEST_LINE)]))
    }
}
