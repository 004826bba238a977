//! For the simulation: segments opened over the world of a simulated process, and as a fork copies them.

use super::builder::SegmentsBuilder;
use super::fetcher::Office;
use super::handle::Shared;
use super::high_water::Marks;
use super::settings::Options;
use super::tag::Tag;
use crate::os;
use crate::os::env::Env;
use leafid_core::Result;
use std::sync::Arc;

/// The segments of a simulated process, and a tag of theirs.
pub(crate) struct Opened {
    shared: Arc<Shared>,
    pub(crate) tag: Tag,
}

impl Opened {
    /// Opens them in the process that is played.
    pub(crate) fn new(builder: &SegmentsBuilder, env: &Arc<Env>) -> Result<Opened> {
        Opened::of(Arc::new(Options::parse(builder)?), env)
    }

    fn of(options: Arc<Options>, env: &Arc<Env>) -> Result<Opened> {
        let shared = Arc::new(Shared::new(options));
        let tag = Tag::new(Arc::clone(&shared), "forked".into());
        let opened = Opened { shared, tag };
        opened.begin(env)?;
        Ok(opened)
    }

    /// What the process that is played needs of its own, as its first call makes it.
    pub(crate) fn begin(&self, env: &Arc<Env>) -> Result<()> {
        let options = &self.shared.options;
        let (name, giving) = (&options.origin.name, options.origin.giving);
        let marks = Marks::new(Arc::clone(env), options.directory.as_deref(), name, giving, false)?;
        let office = Office::open(Arc::clone(options), marks, Arc::clone(env), Vec::new());
        let _ = self.shared.process.install(office, os::current());
        Ok(())
    }

    /// As a fork copies them: with the same ids at hand, and the parent's, which is played.
    pub(crate) fn copy(&self, env: &Arc<Env>) -> Result<Opened> {
        let copy = Opened::of(Arc::clone(&self.shared.options), env)?;
        let ((_, from), (_, to)) = (self.tag.process()?, copy.tag.process()?);
        let at_hand = from.locked(|state| {
            let segments = from.buffer.segments(&state.filler);
            segments.into_iter().chain(state.pending.iter()).collect::<Vec<_>>()
        });
        to.locked(|state| {
            at_hand.into_iter().flatten().for_each(|segment| state.pending.push_back(segment));
            to.pour(state);
        });
        Ok(copy)
    }
}
