//! What hosts decide by themselves.

/// What the drivers of the core's machines decide by themselves: the file, a part of the line (if it is empty, all
/// lines), and why. All other codes and sentences of errors, and all other durations, are the core's.
pub(crate) const OWNED: &[(&str, &str, &str)] = &[
    ("segments/call", "const SLICE", SLEEPS),
    ("segments/call", "left.clamp(", SLEEPS),
    ("segments/call", "Code::WouldBlock", "a wish that may not wait found none at hand"),
    ("segments/call", "Code::StateIo", "a process without threads, which the machine cannot see"),
    ("segments/high_water/by_hand", "", COMMAND),
    ("segments/shared", "log::warn!", "a drop has no caller to tell"),
    ("segments/source/file/directory", "", COMMAND),
    ("segments/source/host_source", "opened(SENTENCE", DISK),
    ("segments/source/host_source", "let allowed", FEATURE),
    ("segments/source/host_source", "Error::invalid(", FEATURE),
    ("segments/supply_driver", "Code::Internal", DEFECT),
    ("segments/supply_driver", "Duration::from_micros(100)", SLEEPS),
    ("segments/supply_driver", "thread::sleep(", SLEEPS),
    ("snowflake/batch", "const ASK", SLEEPS),
    ("snowflake/driver", "const AS_LONG_AS_IT_TAKES", "the machine ends each wait"),
    ("snowflake/driver", "const SLICE", SLEEPS),
    ("snowflake/driver", "const LOOKS_FOR", "a thread that is left holds descriptors"),
    ("snowflake/handle", "Code::Closed", "a closed handle has no generator to ask"),
    ("snowflake/handle", "log::warn!", "a drop has no caller to tell"),
    ("snowflake/registry", "let message", "another thread has the entry of this key"),
    ("snowflake/registry", "Code::StateIo", "another thread has the entry of this key"),
    ("snowflake/registry", "Code::WouldBlock", "who was interrupted does not try by itself"),
    ("snowflake/wait", "const LATE", SLEEPS),
    ("snowflake/wait", "const SLICE", SLEEPS),
    ("snowflake/wait", "const STUCK", SLEEPS),
    ("snowflake/wait", "Duration::from_nanos", "the time that is left, in the unit of sleeps"),
    ("worker/lease_servers", "let allowed", FEATURE),
    ("worker/lease_servers", "Error::invalid(", FEATURE),
    ("worker/place", "failed(SENTENCE", "what it does with a directory"),
    ("worker/reset", "", COMMAND),
    ("worker/source", "let message", DEFECT),
    ("worker/source", "Code::Internal", DEFECT),
];
const SLEEPS: &str = "how long this host sleeps before it looks again";
const DISK: &str = "the disk did not answer";
const COMMAND: &str = "a command changes a file by hand";
const FEATURE: &str = "what this build lacks";
const DEFECT: &str = "a defect of leafid";

const AWAY: &str = "whether its own store answers, which its looks say";

/// As [`OWNED`], of the id server.
pub(crate) const SERVER_OWNED: &[(&str, &str, &str)] = &[
    ("snowflake/blocking", "Code::Internal", DEFECT),
    ("snowflake/leased", "const SLICE", SLEEPS),
    ("snowflake/leased", "SENTENCE, Error::message", "who asks this server gets its own text"),
    ("snowflake/leased", "Code::WorkerLost, format!(SENTENCE", "who asks this server gets its own text"),
    ("snowflake/leased", "log::", "whose line it is"),
    ("snowflake/leased", "let message", DEFECT),
    ("snowflake/leased", "Code::Internal", DEFECT),
    ("snowflake/leased", "Duration::from_millis", "the time that is left, in the unit of sleeps"),
    ("snowflake/local", "log::", "whose line it is"),
    ("tags", "Code::Internal", DEFECT),
    ("tags", "SENTENCE, held.len()", "an option of this server's"),
    ("tags", "Code::SegmentUnavailable", "an option of this server's"),
    ("tags/outage", "let message", AWAY),
    ("tags/outage", "Code::SegmentUnavailable", AWAY),
    ("tags/outage", "log::", AWAY),
    ("tags/rates", "", "what this server's metrics show"),
    ("tags/tag_driver", "Code::Internal", DEFECT),
    ("tags/tag_driver", "Code::UnknownTag", "what its store does not know"),
];

/// The drivers in other languages: a folder, and the files in it or below it that drive.
pub(crate) const SCRIPT_DRIVERS: &[(&str, &[&str])] = &[
    ("node/js/front", &["wait_queue.js"]),
    ("node/js/wasm", &["driver.js", "host_calls.js", "run.js", "supply.js", "tag_waits.js"]),
    ("bindings/wasm/hosts/python", &["leafid_wasm.py"]),
];

/// As [`OWNED`], of the drivers in other languages.
pub(crate) const SCRIPT_OWNED: &[(&str, &str, &str)] = &[
    ("driver.js", "const SLICE_MS", SLEEPS),
    ("host_calls.js", "fault(, SENTENCE", "a lock that its platform took away"),
    ("leafid_wasm.py", "-100 < returned", MODULE),
    ("leafid_wasm.py", "FILE_BYTES", MODULE),
    ("leafid_wasm.py", "UNTIL = ", MODULE),
    ("leafid_wasm.py", "LeafidError(self.output()", MODULE),
    ("leafid_wasm.py", "LeafidError(, fSENTENCE", MODULE),
    ("leafid_wasm.py", "LeafidError(, SENTENCE", "a forked child has a copy of the module"),
    ("leafid_wasm.py", "class LeafidError", "the errors of its language"),
    ("leafid_wasm.py", "FAILED, INTERNAL", DEFECT),
    ("leafid_wasm.py", "raise OSError", "what its system does not say"),
    ("leafid_wasm.py", "mode=0o700", PLACE),
    ("leafid_wasm.py", "partition(SENTENCE", PLACE),
    ("leafid_wasm.py", "wanted = ", PLACE),
    ("leafid_wasm.py", "texts = ", PLACE),
    ("leafid_wasm.py", "user = ", PLACE),
    ("leafid_wasm.py", "what = SENTENCE", FEATURE),
    ("leafid_wasm.py", "time.sleep(", SLEEPS),
    ("run.js", "const SLICE_MS", SLEEPS),
    ("run.js", "await sleep(", SLEEPS),
    ("run.js", "const MOST_READINGS", SLEEPS),
    ("run.js", "const MOST_RESERVED", MODULE),
    ("run.js", "this.flake === 0", "a closed handle has no generator to ask"),
    ("run.js", "throw fault(, SENTENCE", EVENT_LOOP),
    ("run.js", "const message", EVENT_LOOP),
    ("run.js", "throw fault(, message", EVENT_LOOP),
    ("tag_waits.js", "const AT_ONCE", MODULE),
    ("tag_waits.js", "LeafidError(error.code", "each caller has an error object of its own"),
];
const EVENT_LOOP: &str = "whether this thread may wait, only its platform knows";
const MODULE: &str = "docs/WASM-ABI.md says so";
const PLACE: &str = "what it sees of its place";
