//! What the user wrote: flags, environment, and a TOML file, by the same words.

mod leaf_properties;
mod listen;

use crate::lease_rules::Pool;
use crate::pem::shown_path;
use crate::scope::Scope;
use crate::toml_file;
use clap::error::{ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Error, FromArgMatches, Parser, Subcommand};
use leaf_properties::LeafProperties;
use leafid_core::Layout;
use leafid_core::options::{id_space, shown_url};
use std::ffi::OsString;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file in the current folder.
const DEFAULT_STORE: &str = "leafid-server.db";

/// The id server of leafid: Leaf's API, ranges of ids and leases of worker ids, from one SQL database.
#[derive(Debug, Parser)]
#[command(name = "leafid-server", version, args_conflicts_with_subcommands = false)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) options: Options,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Says what is wrong with the settings and the store, and starts nothing
    Check,
    /// Looks at the table of a Leaf that is to be replaced: says what differs, and what to run next
    LeafMove,
    /// Asks a running server of these settings for /health, without TLS, and fails if it is not well
    Health,
    /// Makes a tag, or changes its step
    Tag {
        /// The tag
        tag: String,
        /// How many ids a server takes at a time, at first and at least
        #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(i64).range(1..=i64::from(i32::MAX)))]
        step: i64,
        /// The first id; a counter that is above it stays there
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(0..))]
        first: i64,
    },
    /// Shows the leased worker ids, and frees one whose span is ahead of the clock
    #[command(subcommand)]
    Worker(WorkerCommand),
    /// Makes a bearer token, and prints the lines for the file of `--tokens`
    Token {
        /// A name for the token, which logs and answers may show
        #[arg(value_parser = space)]
        name: String,
        /// What it may do
        #[arg(long = "scope", value_delimiter = ',', default_value = "ids,ranges,leases")]
        scopes: Vec<Scope>,
        /// A tag, or the beginning of tags and a `*`; of leases it is the name of the id space
        #[arg(long = "tag", default_value = "*")]
        tags: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Shows each worker id that was ever leased: holder, end of its lease, end of its span
    Show {
        /// The id space
        #[arg(long, default_value = "default", value_parser = space)]
        name: String,
    },
    /// Frees a worker id that is blocked because a clock was ahead; the clock must be right, and its holder have ended
    ///
    /// It waits as long as a lease lasts, to see that no host renews it. No id is made again for the times that were
    /// granted ahead.
    Free {
        /// The worker id
        worker: i64,
        /// The worker id again
        #[arg(long, value_name = "N")]
        confirm: i64,
        /// The id space
        #[arg(long, default_value = "default", value_parser = space)]
        name: String,
    },
}

#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// A TOML file with these options, each by its long name
    #[arg(long, global = true, env = "LEAFID_SERVER_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Leaf's leaf.properties: its database is the store, and a mode that it switches off is off. The options of this
    /// program go before it
    #[arg(long, global = true, env = "LEAFID_SERVER_LEAF_PROPERTIES", value_name = "FILE")]
    pub(crate) leaf_properties: Option<PathBuf>,
    /// The path of an SQLite file, mysql://USER:PASSWORD@HOST/DATABASE, postgres://USER:PASSWORD@HOST/DATABASE,
    /// etcd://HOST:PORT,HOST:PORT/PREFIX, or an address of Java: jdbc:mysql://HOST/DATABASE?user=USER&password=PASSWORD
    #[arg(
        long,
        global = true,
        env = "LEAFID_SERVER_STORE",
        hide_env_values = true,
        default_value = DEFAULT_STORE
    )]
    pub(crate) store: String,
    /// Connections to the store; SQLite has one
    #[arg(long, global = true, env = "LEAFID_SERVER_STORE_CONNECTIONS", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) store_connections: u32,
    /// How long a transaction may take
    #[arg(long, global = true, env = "LEAFID_SERVER_STORE_TIMEOUT_MS", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(100..=60_000))]
    pub(crate) store_timeout_ms: u64,
    /// How long a start waits for a store that is down
    #[arg(long, global = true, env = "LEAFID_SERVER_START_TIMEOUT_MS", default_value_t = 60_000)]
    pub(crate) start_timeout_ms: u64,
    /// Gives only the ids of tags that leave --remainder when they are divided by this: the number of regions
    #[arg(long, global = true, env = "LEAFID_SERVER_STRIDE", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) stride: u32,
    /// Stores this server's strict-leaf, allow-dotted-tags, stride, remainder, workers, lease-ms and clock-threshold-ms for
    /// all servers of the store
    #[arg(long, global = true, env = "LEAFID_SERVER_CHANGE_SETTINGS")]
    pub(crate) change_settings: bool,
    /// This region's own, from 0 on
    #[arg(long, global = true, env = "LEAFID_SERVER_REMAINDER", default_value_t = 0)]
    pub(crate) remainder: u32,
    /// The address and port, or localhost:8080; without an address, as :8080, all addresses of this host
    #[arg(long, global = true, env = "LEAFID_SERVER_LISTEN", default_value = "127.0.0.1:8080", value_parser = listen::address)]
    pub(crate) listen: SocketAddr,
    /// Another address and port, for the admin API
    #[arg(long, global = true, env = "LEAFID_SERVER_ADMIN_LISTEN", value_parser = listen::address)]
    pub(crate) admin_listen: Option<SocketAddr>,
    /// Names of this server that browsers and proxies ask for, such as ids.example.com, with commas between them
    #[arg(long, global = true, env = "LEAFID_SERVER_HOST_NAME", value_name = "NAMES", value_delimiter = ',', value_parser = host_name)]
    pub(crate) host_name: Vec<String>,
    /// A TOML file with bearer tokens; `[[token]]` in the file of --config does the same
    #[arg(long, global = true, env = "LEAFID_SERVER_TOKENS", value_name = "FILE")]
    pub(crate) tokens: Option<PathBuf>,
    /// The server's certificate and its chain, in PEM: connections are encrypted
    #[arg(long, global = true, env = "LEAFID_SERVER_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The key of the certificate, in PEM
    #[arg(long, global = true, env = "LEAFID_SERVER_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Authorities in PEM: only clients with a certificate of one of them are served
    #[arg(long, global = true, env = "LEAFID_SERVER_TLS_CLIENT_CA", value_name = "FILE")]
    pub(crate) tls_client_ca: Option<PathBuf>,
    /// How long a caller waits for an id
    #[arg(long, global = true, env = "LEAFID_SERVER_TIMEOUT_MS", default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..=60_000))]
    pub(crate) timeout_ms: u64,
    /// Answers as an unmodified Leaf does, with its errors: tags cut at a dot, 0 for a mode that is off, 10 ms of patience
    #[arg(long, global = true, env = "LEAFID_SERVER_STRICT_LEAF")]
    pub(crate) strict_leaf: bool,
    /// Serves a tag with a dot also while the part before its dot is a tag: only if no Leaf and no --strict-leaf shares the store
    #[arg(long, global = true, env = "LEAFID_SERVER_ALLOW_DOTTED_TAGS", conflicts_with = "strict_leaf")]
    pub(crate) allow_dotted_tags: bool,
    /// Switches /api/segment/get off
    #[arg(long, global = true, env = "LEAFID_SERVER_NO_SEGMENT")]
    pub(crate) no_segment: bool,
    /// Switches /api/snowflake/get off
    #[arg(long, global = true, env = "LEAFID_SERVER_NO_SNOWFLAKE")]
    pub(crate) no_snowflake: bool,
    /// The id space of this server's own snowflakes
    #[arg(long, global = true, env = "LEAFID_SERVER_SNOWFLAKE_NAME", default_value = "default", value_parser = space)]
    pub(crate) snowflake_name: String,
    /// The worker id of this server's own snowflakes; without it any free one
    #[arg(long, global = true, env = "LEAFID_SERVER_SNOWFLAKE_WORKER", value_parser = clap::value_parser!(i64).range(0..=1023))]
    pub(crate) snowflake_worker: Option<i64>,
    /// Takes the worker id of this server's own snowflakes from these, which only this host has. None is leased for it
    #[arg(long, global = true, env = "LEAFID_SERVER_SNOWFLAKE_LOCAL", value_name = "IDS", value_parser = workers)]
    pub(crate) snowflake_local: Option<RangeInclusive<i64>>,
    /// The directory of the records of --snowflake-local; by default that of the library
    #[arg(long, global = true, env = "LEAFID_SERVER_STATE_DIR", value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The worker ids to lease, both ends included
    #[arg(long, global = true, env = "LEAFID_SERVER_WORKERS", default_value = "0-1023", value_parser = workers)]
    pub(crate) workers: RangeInclusive<i64>,
    /// How long a lease lasts without a renewal
    #[arg(long, global = true, env = "LEAFID_SERVER_LEASE_MS", default_value_t = 30_000, value_parser = clap::value_parser!(i64).range(1000..=604_800_000))]
    pub(crate) lease_ms: i64,
    /// How far a client's clock may be ahead of the store's
    #[arg(long, global = true, env = "LEAFID_SERVER_CLOCK_THRESHOLD_MS", default_value_t = 10_000, value_parser = clap::value_parser!(i64).range(0..=3_600_000))]
    pub(crate) clock_threshold_ms: i64,
    /// The largest number of ids of one request; without it 10,000, and 100,000 of tinyid's
    #[arg(long, global = true, env = "LEAFID_SERVER_MAX_BATCH", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_batch: Option<u32>,
    /// The largest number of tags that are held
    #[arg(long, global = true, env = "LEAFID_SERVER_MAX_TAGS", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tags: u32,
    /// At the start, the tags that were used within a day get their first ids at once, so many at most
    #[arg(long, global = true, env = "LEAFID_SERVER_WARM_TAGS", default_value_t = 1000)]
    pub(crate) warm_tags: u32,
    /// The largest number of names whose worker ids are leased
    #[arg(long, global = true, env = "LEAFID_SERVER_MAX_NAMES", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_names: u32,
    /// The largest number of connections
    #[arg(long, global = true, env = "LEAFID_SERVER_MAX_CONNECTIONS", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_connections: u32,
    /// The largest number of requests at a time
    #[arg(long, global = true, env = "LEAFID_SERVER_MAX_REQUESTS", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_requests: u32,
    /// The requests for ids, ranges and leases of one token, or of one address without tokens, a second; 0: no limit
    #[arg(long, global = true, env = "LEAFID_SERVER_MAX_RATE", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) max_rate: u32,
    /// Of these, how many at once after a rest; without it as many as in a second
    #[arg(long, global = true, env = "LEAFID_SERVER_MAX_BURST", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) max_burst: Option<u32>,
    /// The URL of a collector of traces (OTLP over HTTP); without it that of OTEL_EXPORTER_OTLP_ENDPOINT, else no traces
    #[arg(long, global = true, env = "LEAFID_SERVER_OTLP_ENDPOINT", value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
    /// At a clean stop gives unused ids back, if no later range was taken. Only with a store that never forgets a commit
    #[arg(long, global = true, env = "LEAFID_SERVER_GIVE_BACK")]
    pub(crate) give_back: bool,
    /// How long requests may take to end when this server stops
    #[arg(long, global = true, env = "LEAFID_SERVER_STOP_TIMEOUT_MS", default_value_t = 10_000)]
    pub(crate) stop_timeout_ms: u64,
}

impl Options {
    /// Errors: options that contradict each other.
    fn check(&self) -> leafid_core::Result<()> {
        let refuse =
            |option, value: String, allowed: &str| Err(leafid_core::Error::invalid(option, value, allowed));
        if let Some(burst) = self.max_burst.filter(|_| self.max_rate == 0) {
            return refuse("max-burst", burst.to_string(), "together with max-rate");
        }
        // The end of the last range is not known: it lies at or above the last id of this remainder.
        if self.give_back && self.stride > 1 {
            return refuse("give-back", true.to_string(), "with a stride of 1");
        }
        let workers = &self.workers;
        // Another one may be a local id of another host, or belong to another region.
        if let Some(worker) =
            self.snowflake_worker.filter(|worker| self.snowflake_local.is_none() && !workers.contains(worker))
        {
            return refuse(
                "snowflake-worker",
                worker.to_string(),
                &format!("one of workers: {}", ids(workers)),
            );
        }
        let Some(local) = &self.snowflake_local else {
            return match &self.state_dir {
                Some(folder) => refuse("state-dir", shown_path(folder), "together with snowflake-local"),
                None => Ok(()),
            };
        };
        let shown = ids(local);
        if let Some(worker) = self.snowflake_worker {
            return refuse("snowflake-worker", worker.to_string(), "one of it and snowflake-local");
        }
        if self.no_snowflake {
            return refuse("snowflake-local", shown, "without no-snowflake");
        }
        if local.start() <= workers.end() && workers.start() <= local.end() {
            let allowed = format!(
                "none of {}, which are leased to others: see workers, which is the same on all servers of a store",
                ids(workers)
            );
            return refuse("snowflake-local", shown, &allowed);
        }
        Ok(())
    }

    pub(crate) fn pool(&self) -> Pool {
        Pool {
            ids: self.workers.clone(),
            lease_ms: self.lease_ms,
            threshold_ms: self.clock_threshold_ms,
            most_names: self.max_names.into(),
        }
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    pub(crate) fn store_timeout(&self) -> Duration {
        Duration::from_millis(self.store_timeout_ms)
    }

    pub(crate) fn stop_timeout(&self) -> Duration {
        Duration::from_millis(self.stop_timeout_ms)
    }

    /// No request takes longer: a wait for an id, or a transaction and the wait for its connection.
    pub(crate) fn limit(&self) -> Duration {
        self.timeout() + 2 * self.store_timeout() + Duration::from_secs(1)
    }
}

/// Parses the flags. A flag goes before the environment, and that before the file of this program, and that before a
/// Leaf's.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, Error> {
    let args: Vec<OsString> = args.into_iter().collect();
    let read = |command: clap::Command| {
        command.try_get_matches_from(&args).and_then(|matches| Cli::from_arg_matches(&matches))
    };
    let mut cli = read(Cli::command()).map_err(without_passwords)?;
    let file = cli.options.config.as_deref().map(table).transpose()?;
    let of_file = |command: clap::Command| file.iter().try_fold(command, with_file);
    if file.is_some() {
        cli = read(of_file(Cli::command())?).map_err(without_passwords)?;
    }
    let leaf = cli.options.leaf_properties.as_deref().map(LeafProperties::read).transpose();
    let leaf = leaf.map_err(|error| refused(error.message()))?;
    if let Some(leaf) = &leaf {
        cli = read(of_file(leaf.as_defaults(Cli::command()))?).map_err(without_passwords)?;
    }
    let of_leaf = leaf.map_or(Ok(()), |leaf| {
        let Options { store, workers, .. } = &cli.options;
        let new_store = (store == DEFAULT_STORE).then_some(store.as_str());
        leaf.check(new_store, *workers.start(), ids(workers))
    });
    of_leaf.and_then(|()| cli.options.check()).map_err(|error| refused(error.message()))?;
    Ok(cli)
}

/// What becomes of the settings of a Leaf, for people.
pub(crate) fn said_of_leaf(options: &Options) -> Option<String> {
    let path = options.leaf_properties.as_deref()?;
    Some(leaf_properties::said(path, options.no_segment, options.no_snowflake))
}

fn refused(message: &str) -> Error {
    Cli::command().error(ErrorKind::ValueValidation, message)
}

/// An error of clap repeats what the user wrote, as a store's address in a wrong place.
fn without_passwords(mut error: Error) -> Error {
    let shown = |value: &ContextValue| match value {
        ContextValue::String(text) => Some(ContextValue::String(shown_url(text))),
        _ => None,
    };
    let values: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, shown(value)?))).collect();
    for (kind, value) in values {
        error.insert(kind, value);
    }
    error
}

/// The path of a file, for errors, and its options.
type FileOptions = (PathBuf, toml::Table);

fn table(path: &Path) -> Result<FileOptions, Error> {
    let table = toml_file::read(path).map_err(|what| refused(&what))?;
    Ok((path.to_owned(), table))
}

/// The command with the options of a file as its defaults.
fn with_file(mut command: clap::Command, (path, table): &FileOptions) -> Result<clap::Command, Error> {
    let wrong = |what: String| refused(&format!("{}: {what}", shown_path(path)));
    for (key, value) in table {
        if key == "token" {
            // The tokens: they are no options, and are read where they are used.
            continue;
        }
        let id = key.replace('-', "_");
        let known = command.get_arguments().any(|arg| arg.get_id() == id.as_str() && id != "config");
        if !known {
            let allowed = "those of leafid-server --help, by their long names without the dashes";
            return Err(wrong(format!("the option is {:?}; allowed: {allowed}", shown_path(key.as_ref()))));
        }
        let text = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(set) => set.to_string(),
            // It may hold a secret.
            other => {
                let allowed = "a text in quotes, an integer, true or false";
                return Err(wrong(format!(
                    "{key} is a value of type {}; allowed: {allowed}",
                    other.type_str()
                )));
            }
        };
        command = command.mut_arg(id, |arg| arg.default_value(text));
    }
    Ok(command)
}

fn space(name: &str) -> Result<String, String> {
    id_space(Some(name)).map_err(|error| error.message().to_owned())
}

/// A range of worker ids as its option has it.
pub(crate) fn ids(range: &RangeInclusive<i64>) -> String {
    match range.start() == range.end() {
        true => range.start().to_string(),
        false => format!("{}-{}", range.start(), range.end()),
    }
}

/// Parses `0-31`, both ends included.
fn workers(text: &str) -> Result<RangeInclusive<i64>, String> {
    let most = i64::from(Layout::LEAF.max_worker_id());
    let ends = text.split_once('-').unwrap_or((text, text));
    match (ends.0.parse(), ends.1.parse()) {
        (Ok(first), Ok(last)) if 0 <= first && first <= last && last <= most => Ok(first..=last),
        _ => Err(format!("a range such as 0-31, both ends included, from 0 to {most}")),
    }
}

/// A name of this server, without a port. Errors: what is wrong with it.
fn host_name(text: &str) -> Result<String, String> {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match !text.is_empty() && text.chars().all(is_good) {
        true => Ok(text.to_owned()),
        false => Err("allowed: a name as ids.example.com, without a scheme or a port".to_owned()),
    }
}

#[cfg(test)]
mod tests;
