//! Selection of the source that the options name.

use super::file::FileSource;
use super::source_properties::{HostSource, SourceProperties};
use crate::config::http_options::opened;
use crate::os::env;
use crate::segments::options::SegmentsOptions;
use leafid_core::Result;
use leafid_core::options::SourceChoice;
use leafid_core::supply::Source;
use std::path::PathBuf;
use std::sync::Arc;

/// The source that the options name. Errors: `invalid_argument`; those of opening the source.
pub(crate) fn source(options: &SegmentsOptions) -> Result<SourceProperties> {
    let (servers, for_servers) = (&options.servers.0, options.set_for_servers());
    match SourceChoice::new(options.source.as_ref(), servers, &for_servers, &options.set_for_file())? {
        SourceChoice::Callback(source) => Ok(SourceProperties {
            host: HostSource::Callback(source.clone()),
            of_supply: Source::Callback { is_deferred: source.is_deferred() },
            order: options.order(true),
            threads: 1,
        }),
        SourceChoice::File(path) => file_source(options, path),
        SourceChoice::Servers => http_source(options),
    }
}

/// The source `file:DIR`.
fn file_source(options: &SegmentsOptions, path: &str) -> Result<SourceProperties> {
    let (env, path) = (Arc::clone(env::of_process()), PathBuf::from(path));
    let (create, sharing, tags) = (options.create, options.sharing()?, options.tags.clone());
    let source = opened("the directory of the counters", move || {
        FileSource::open(env, &path, create, &tags, sharing)
    })?;
    let of_supply = source.of_supply();
    let order = options.order(true);
    Ok(SourceProperties { host: HostSource::Counters(source), of_supply, order, threads: 1 })
}

#[cfg(not(feature = "http"))]
fn http_source(options: &SegmentsOptions) -> Result<SourceProperties> {
    let allowed = "file:DIR: this leafid was built without the feature http";
    Err(leafid_core::Error::invalid("servers", leafid_core::options::shown_urls(&options.servers.0), allowed))
}

#[cfg(feature = "http")]
fn http_source(options: &SegmentsOptions) -> Result<SourceProperties> {
    super::http_sources::source(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::{FileTag, Protocol, Segments, SegmentsBuilder};
    use leafid_core::Code;

    #[track_caller]
    fn refused(builder: SegmentsBuilder, says: &str) {
        let error = source(&builder.options).err().unwrap();
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.message().starts_with(says), "{error}");
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
