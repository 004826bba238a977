//! No options are parsed here.

#[derive(Clone, Debug, Default)]
pub struct SegmentsBuilder;
