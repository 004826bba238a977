//! What an update of a counter asks its host for, step by step, and what it gets back.

use crate::call::SharedFailure;
use crate::format::two_slots::{FILE_BYTES, SLOT_BYTES};
use alloc::boxed::Box;
use alloc::string::String;

/// A directory of counters, as it was opened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterDirectory {
    /// Its path, for messages.
    pub path: String,
    /// The name of the source: `file:` with its path without links.
    pub name: String,
    /// The id in its marker.
    pub id: String,
    /// When it was made, as the marker says.
    pub created: String,
}

/// How the counter of a tag that the user named begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NamedCounter {
    /// Its first id.
    pub start: i64,
    /// How many ids a fetch gets if it requests no number.
    pub step: i64,
    /// Whether a fetch wrote the step already: a process that writes another one later takes precedence.
    pub told: bool,
}

/// A step, in the directory of the counters. Files that were opened stay locked until the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CounterStep {
    /// Read this file without its lock.
    Peek(String),
    /// Open, lock and read this file. With bytes a missing one is made of them, and its name is made durable: the marker
    /// counts it next.
    Open(String, Option<Box<[u8; FILE_BYTES]>>),
    /// List the names in the directory.
    List,
    /// See that this open file is still the one at its path, write, make it durable, and read it again.
    Write {
        /// The file.
        name: String,
        /// Where, from its beginning.
        offset: usize,
        /// What.
        bytes: Box<[u8; SLOT_BYTES]>,
        /// Whether its name must be made durable too.
        syncs_name: bool,
    },
    /// Nothing more: unlock all files and end the fetch.
    Done,
}

/// What came of the last step.
#[derive(Clone, Copy, Debug)]
pub enum CounterInput<'i> {
    /// There was none: the fetch begins.
    Begin,
    /// All bytes of the file; `None` if there is no such file.
    Read(Option<&'i [u8]>),
    /// The names in the directory.
    Names(&'i [String]),
    /// It failed.
    Failed(&'i SharedFailure),
}
