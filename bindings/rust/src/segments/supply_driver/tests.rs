//! Tests of what the driver does beside the machine.

use super::*;
use crate::segments::SegmentsBuilder;

#[test]
fn ids_of_another_process_are_not_put_back() {
    let fetch = |_: &crate::FetchRequest| Ok(Some(leafid_core::Segment::new(1, 11, 1)?.into()));
    let ids = SegmentsBuilder::default().persist(false).name("others").fetch(fetch).open().unwrap();
    let tag = ids.tag("order").unwrap();
    assert_eq!(tag.take(10).unwrap(), Vec::from_iter(1..=10));
    let run = Run { first: 100, stride: 1, count: 5 };
    tag.put_back_runs(&[run], os::process::generation() + 1);
    assert_eq!(tag.stats().unwrap().left, 0);
    tag.put_back_runs(&[run], os::process::generation());
    assert_eq!(tag.stats().unwrap().left, 5);
}
