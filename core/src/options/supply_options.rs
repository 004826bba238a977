//! The checked options of segments, from what the user set and from the environment.

use super::checks::{DEFAULT_TIMEOUT_MS, id_space, milliseconds, refuse_options_of};
use super::environment::{Environment, NamedDirectory};
use super::option_value::{FileTag, LAST_DAY, OptionValue, OptionValues, word};
use super::protocol::Protocol;
use super::server_options::{OF_SERVERS, ServerOptions};
use super::tags::{check_tag, check_tag_of_ids};
use crate::options::allowed::allowed;
use crate::quoted::Quoted;
use crate::secrets::shown_urls;
use crate::wire::leaf::LeafMode;
use crate::{Error, IdOrder, LARGEST_STEP, Result};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// The largest number of tags that are fetched at an opening.
pub const MOST_PREWARMED: usize = 1_000;

/// The tags that are fetched at the opening.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Prewarm {
    /// None.
    #[default]
    None,
    /// The tags that were fetched within the last day, by the state directory.
    LastDay,
    /// These tags.
    Tags(Vec<String>),
}

impl From<Prewarm> for OptionValue {
    fn from(prewarm: Prewarm) -> OptionValue {
        match prewarm {
            Prewarm::None => OptionValue::Texts(Vec::new()),
            Prewarm::LastDay => OptionValue::Text(LAST_DAY.into()),
            Prewarm::Tags(tags) => OptionValue::Texts(tags),
        }
    }
}

/// Where segments come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SupplyFrom {
    /// A callback.
    Callback,
    /// Counters in a directory, which the processes of one host share.
    File {
        /// The path of the directory.
        path: String,
        /// Whether it is created if it is missing.
        create: bool,
        /// Counters that are created with their first fetch.
        tags: Vec<(String, FileTag)>,
    },
    /// A Leaf, which gives one id, or one block, per request.
    Leaf(LeafMode, ServerOptions),
    /// Servers of leafid's own protocol.
    Range(ServerOptions),
    /// Servers of tinyid. Their token is no header.
    Tinyid(ServerOptions),
}

/// The valid options of segments. What depends on the disk and the place is checked later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SupplyOptions {
    /// The id space.
    pub name: String,
    /// Whether marks are stored.
    pub persist: bool,
    /// The state directory that the user or `LEAFID_STATE_DIR` named; `None` without marks, too.
    pub state_dir: Option<NamedDirectory>,
    /// Whether directories may be on a network file system.
    pub shared_fs: bool,
    /// Whether the members of one group share the directories.
    pub shared_group: bool,
    /// Where segments come from.
    pub from: SupplyFrom,
    /// The user's word that numbers of a tag called `…-xN` are ids for all: `block_size` is 1.
    pub any_tag: bool,
    /// The order of the source's ids.
    pub order: IdOrder,
    /// How many ids to ask for; `None` for the source's own number.
    pub step: Option<i64>,
    /// Whether the step, or the stock of a Leaf, follows the use.
    pub adaptive: bool,
    /// The percentage of a segment or a stock after whose use the next one is fetched.
    pub prefetch: u32,
    /// The longest wait of a call for its next id.
    pub timeout: Duration,
    /// Whether a clean close stores the unused ids.
    pub keep_unused: bool,
    /// The tags that are fetched at the opening.
    pub prewarm: Prewarm,
}

impl SupplyFrom {
    /// How to ask servers; `None` for another source.
    pub fn servers(&self) -> Option<&ServerOptions> {
        match self {
            SupplyFrom::Callback | SupplyFrom::File { .. } => None,
            SupplyFrom::Leaf(_, servers) | SupplyFrom::Range(servers) | SupplyFrom::Tinyid(servers) => {
                Some(servers)
            }
        }
    }

    /// The token that is sent as a header. That of tinyid is its own.
    pub fn header_token(&self) -> Option<&str> {
        match self {
            SupplyFrom::Tinyid(_) => None,
            _ => self.servers()?.token.as_deref(),
        }
    }
}

impl SupplyOptions {
    /// Errors: `invalid_argument`.
    pub fn parse(set: &OptionValues, environment: &Environment<'_>) -> Result<SupplyOptions> {
        let protocol = word(set, "protocol", Protocol::parse)?;
        let name = id_space(set.text("name"))?;
        let persist = set.flag("persist").unwrap_or(true);
        let keep_unused = set.flag("keep_unused").unwrap_or(false);
        if keep_unused && !persist {
            let allowed = "false with persist = false: nothing can be kept";
            return Err(Error::invalid("keep_unused", "true", allowed));
        }
        let step = set.int("step");
        if let Some(step) = step.filter(|step| !(1..=LARGEST_STEP).contains(step)) {
            return Err(Error::invalid("step", step, allowed("step")));
        }
        let prefetch = match set.int("prefetch").unwrap_or(10) {
            // It fits, because it is checked here.
            percent @ 0..=100 => percent as u32,
            percent => return Err(Error::invalid("prefetch", percent, allowed("prefetch"))),
        };
        let prewarm = match set.get("prewarm") {
            Some(OptionValue::Text(text)) if text == LAST_DAY => Prewarm::LastDay,
            Some(OptionValue::Texts(tags)) if !tags.is_empty() => Prewarm::Tags(tags.clone()),
            _ => Prewarm::None,
        };
        if let Prewarm::Tags(tags) = &prewarm
            && tags.len() > MOST_PREWARMED
        {
            return Err(Error::invalid("prewarm", format!("{} tags", tags.len()), allowed("prewarm")));
        }
        let timeout = milliseconds("timeout_ms", set.int("timeout_ms").unwrap_or(DEFAULT_TIMEOUT_MS), 1)?;
        let state_dir = if persist { environment.state_dir(set)? } else { None };
        let shared_group = environment.flag(set, "shared_group")?;
        let (from, order) = source(set, environment, protocol)?;
        let options = SupplyOptions {
            name,
            persist,
            state_dir,
            shared_fs: set.flag("shared_fs").unwrap_or(false),
            shared_group,
            from,
            any_tag: set.int("block_size") == Some(1),
            order,
            step,
            adaptive: set.flag("adaptive").unwrap_or(true),
            prefetch,
            timeout,
            keep_unused,
            prewarm,
        };
        if let Prewarm::Tags(tags) = &options.prewarm {
            tags.iter().try_for_each(|tag| options.check_tag(tag))?;
        }
        Ok(options)
    }

    /// Errors: `invalid_argument` for a name that this source does not accept as a tag.
    pub fn check_tag(&self, tag: &str) -> Result<()> {
        check_tag(tag)?;
        match &self.from {
            SupplyFrom::Leaf(mode, _) => mode.check_tag(tag),
            _ => check_tag_of_ids(tag, self.any_tag.then_some(1)),
        }
    }
}

/// The source that the options name, and the order of its ids.
fn source(
    set: &OptionValues,
    environment: &Environment<'_>,
    protocol: Protocol,
) -> Result<(SupplyFrom, IdOrder)> {
    let urls = set.texts("servers");
    // A block size of 1 is for all sources.
    let blocks = ("block_size", set.int("block_size").is_some_and(|size| size != 1));
    let own = set.which_are_set(["protocol", "connections"]).into_iter().chain([blocks]);
    let for_servers: Vec<_> = own.chain(set.which_are_set(OF_SERVERS)).collect();
    let for_file = set.which_are_set(["create", "tags"]);
    let ordered = set.flag("ordered_source");
    let is_file = |url: &String| url.starts_with("file:");
    match (set.get("fetch"), urls.as_slice()) {
        (Some(_), [_, ..]) => Err(Error::invalid("fetch", "set together with servers", "one of the two")),
        (None, []) => Err(Error::invalid("servers", "not set, nor is fetch", allowed("servers"))),
        (Some(_), []) => {
            refuse_options_of("servers over HTTP", &for_servers)?;
            refuse_options_of("file:DIR", &for_file)?;
            Ok((SupplyFrom::Callback, id_order(ordered, true)))
        }
        (None, [file]) if is_file(file) => {
            refuse_options_of("servers over HTTP", &for_servers)?;
            let path = &file["file:".len()..];
            if path.is_empty() || path.contains('\0') {
                return Err(Error::invalid("servers", Quoted(file), allowed("servers")));
            }
            for (tag, how) in set.tags() {
                check_tag(tag)?;
                how.check(tag)?;
            }
            let (create, tags) = (set.flag("create").unwrap_or(false), set.tags().to_vec());
            Ok((SupplyFrom::File { path: path.into(), create, tags }, id_order(ordered, true)))
        }
        (None, urls) if urls.iter().any(is_file) => {
            Err(Error::invalid("servers", shown_urls(urls), allowed("servers")))
        }
        (None, urls) => {
            refuse_options_of("file:DIR", &for_file)?;
            servers(set, environment, protocol, urls, ordered)
        }
    }
}

fn servers(
    set: &OptionValues,
    environment: &Environment<'_>,
    protocol: Protocol,
    urls: &[String],
    ordered: Option<bool>,
) -> Result<(SupplyFrom, IdOrder)> {
    let block_size = block_size(set.int("block_size"), protocol == Protocol::Leaf)?;
    let asked = |sends_token| ServerOptions::parse(set, environment, "servers", urls, sends_token);
    if matches!(protocol, Protocol::Leaf | Protocol::LeafSnowflake) && ordered == Some(true) {
        let allowed = "false with a Leaf: the ids of its nodes, and of several connections, interleave";
        return Err(Error::invalid("ordered_source", true, allowed));
    }
    match protocol {
        Protocol::Leaf => {
            Ok((SupplyFrom::Leaf(LeafMode::Segment { block_size }, asked(true)?), IdOrder::Ranges))
        }
        Protocol::LeafSnowflake => Ok((SupplyFrom::Leaf(LeafMode::Snowflake, asked(true)?), IdOrder::Sparse)),
        Protocol::Range => Ok((SupplyFrom::Range(asked(true)?), id_order(ordered, true))),
        Protocol::Tinyid => {
            if let Some(step) = set.int("step") {
                let allowed = "not set with protocol \"tinyid\", whose table tiny_id_info says the step";
                return Err(Error::invalid("step", step, allowed));
            }
            Ok((SupplyFrom::Tinyid(asked(false)?), id_order(ordered, false)))
        }
    }
}

/// The order of the ids of a source. `ascending`: by default each lies above the earlier ones.
fn id_order(ordered_source: Option<bool>, ascending: bool) -> IdOrder {
    if ordered_source.unwrap_or(ascending) { IdOrder::Ascending } else { IdOrder::Ranges }
}

/// The number of ids in one response of a Leaf. `has_blocks`: whether the protocol has blocks of ids.
fn block_size(block_size: Option<i64>, has_blocks: bool) -> Result<i64> {
    match block_size {
        None => Ok(1),
        Some(1) if !has_blocks => Ok(1),
        Some(size) if !has_blocks => {
            Err(Error::invalid("block_size", size, "set only with protocol \"leaf\""))
        }
        Some(size @ 2..=LARGEST_STEP) => Ok(size),
        Some(size) => Err(Error::invalid("block_size", size, allowed("block_size"))),
    }
}
