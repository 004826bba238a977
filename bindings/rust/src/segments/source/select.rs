//! Selection of the source that the options name.

use super::callback::SegmentSource;
use super::file::FileSource;
use crate::config::http_options::{opened, refuse_options_of};
use crate::os::env;
use crate::segments::builder::SegmentsBuilder;
use leafid_core::options::allowed;
use leafid_core::{Error, IdOrder, Result};
use std::path::PathBuf;
use std::sync::Arc;

/// A source and its properties.
pub(crate) struct Origin {
    pub(crate) source: SegmentSource,
    /// The name under which its marks are stored.
    pub(crate) name: String,
    /// Whether it has its own step.
    pub(crate) native: bool,
    /// The order of its ids.
    pub(crate) order: IdOrder,
    /// Whether each request returns one id or one block, so that a stock is kept.
    pub(crate) one_by_one: bool,
    /// The number of concurrent requests.
    pub(crate) threads: usize,
    /// Its servers, if it has some.
    pub(crate) servers: Option<Arc<dyn Servers>>,
}

/// The state of the servers of a source.
pub(crate) trait Servers: Send + Sync {
    /// How long no server may be asked, in milliseconds; `None` if one may be asked now. `urgent`: a caller waits.
    fn rest_ms(&self, urgent: bool) -> Option<i64>;
    /// Whether each server has refused this tag, and would refuse it until somebody changes the server.
    fn denies(&self, tag: &str) -> bool;
    /// The URL and the last error of each server.
    fn last_errors(&self) -> Vec<(String, Option<Error>)>;
    /// Closes the connections that no request uses.
    fn close_idle(&self);
    /// Ends the running requests; later ones are refused.
    fn close(&self);
    /// Errors: `invalid_argument` for a tag that these servers would confuse with another.
    fn check_tag(&self, tag: &str) -> Result<()>;
}

impl Origin {
    /// Errors: `invalid_argument`; those of opening the source.
    pub(crate) fn parse(builder: &SegmentsBuilder) -> Result<Origin> {
        let is_file = |server: &String| server.starts_with("file:");
        match (&builder.source, builder.servers.as_slice()) {
            (Some(_), [_, ..]) => Err(Error::invalid("fetch", "set together with servers", "one of the two")),
            (None, []) => Err(Error::invalid("servers", "not set, nor is fetch", allowed("servers"))),
            (Some(source), []) => {
                refuse_options_of("servers over HTTP", &builder.set_for_servers())?;
                refuse_options_of("file:DIR", &builder.set_for_file())?;
                Ok(Origin::new(source.clone(), "callback".into(), false, ordered(builder)))
            }
            (None, [file]) if is_file(file) => {
                refuse_options_of("servers over HTTP", &builder.set_for_servers())?;
                Origin::file(builder, &file["file:".len()..])
            }
            (None, servers) if servers.iter().any(is_file) => {
                Err(Error::invalid("servers", servers.join(", "), allowed("servers")))
            }
            (None, _) => {
                refuse_options_of("file:DIR", &builder.set_for_file())?;
                Origin::http(builder)
            }
        }
    }

    pub(crate) fn new(source: SegmentSource, name: String, native: bool, order: IdOrder) -> Origin {
        Origin { source, name, native, order, one_by_one: false, threads: 1, servers: None }
    }

    /// The source `file:DIR`.
    fn file(builder: &SegmentsBuilder, path: &str) -> Result<Origin> {
        if path.is_empty() || path.contains('\0') {
            return Err(Error::invalid(
                "servers",
                format!("{:?}", format!("file:{path}")),
                allowed("servers"),
            ));
        }
        let (env, path) = (Arc::clone(env::of_process()), PathBuf::from(path));
        let (create, sharing, tags) = (builder.create, builder.sharing()?, builder.tags.clone());
        let source = opened("the directory of the counters", move || {
            FileSource::open(env, &path, create, &tags, sharing)
        })?;
        let name = source.source_name();
        let source = SegmentSource::blocking(move |request| Ok(Some(source.fetch(request)?.into())));
        Ok(Origin::new(source, name, true, ordered(builder)))
    }

    #[cfg(not(feature = "http"))]
    fn http(builder: &SegmentsBuilder) -> Result<Origin> {
        let allowed = "file:DIR: this leafid was built without the feature http";
        Err(Error::invalid("servers", builder.servers.join(", "), allowed))
    }

    #[cfg(feature = "http")]
    fn http(builder: &SegmentsBuilder) -> Result<Origin> {
        super::http_sources::origin(builder)
    }
}

/// The order of a source with ascending ids, unless the options set another one.
pub(crate) fn ordered(builder: &SegmentsBuilder) -> IdOrder {
    if builder.ordered_source.unwrap_or(true) { IdOrder::Ascending } else { IdOrder::Ranges }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::{FileTag, Protocol, Segments};
    use leafid_core::Code;

    #[track_caller]
    fn refused(builder: SegmentsBuilder, says: &str) {
        let error = Origin::parse(&builder).err().unwrap();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().starts_with(says), "{error}");
    }

    #[test]
    fn a_directory_has_a_path() {
        for path in ["", "a\0b"] {
            refused(Segments::builder().servers([format!("file:{path}")]), "servers is \"file:");
        }
    }

    #[test]
    fn a_directory_stands_alone() {
        let servers = || Segments::builder().servers(["http://127.0.0.1:1", "file:/nowhere"]);
        refused(servers(), "servers is http://127.0.0.1:1, file:/nowhere;");
        refused(servers().create(true), "servers is");
    }

    #[test]
    fn options_of_another_source_are_refused() {
        let callback = || Segments::builder().fetch(|_| Ok(None));
        let file = || Segments::builder().servers(["file:/nowhere"]);
        let servers = || Segments::builder().servers(["http://127.0.0.1:1"]);
        for of in [callback, file] {
            refused(of().protocol(Protocol::Range), "protocol is");
            refused(of().connections(1), "connections is");
            refused(of().block_size(2), "block_size is");
            refused(of().token("secret"), "token is");
        }
        for of in [callback, servers] {
            refused(of().create(true), "create is");
            refused(of().tags([("order", FileTag { start: 1, step: 1 })]), "tags is");
        }
    }
}
