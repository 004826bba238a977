//! When the next fetch is asked for.

use super::{Host, settings};
use leafid_core::supply::{Prewarm, SupplySettings, Wish};
use std::time::Duration;

/// As a user sees it who takes one id after another: the first ones, `waits`, find the buffer empty.
#[test]
fn the_next_fetch_is_asked_for_during_the_take_of_the_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/prefetch.json");
    let vectors: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for case in vectors["cases"].as_array().unwrap() {
        let (length, nth) = (case["length"].as_i64().unwrap(), case["nth"].as_u64().unwrap() as usize);
        for waits in [1, 2, nth - 1, nth] {
            let mut host = Host::new(SupplySettings { step: Some(length), ..settings() });
            let (tag, buffer) = host.tag("order");
            let ticket = host.wait(tag, waits);
            host.drive();
            let mut taken = host.collect(ticket).unwrap();
            while taken.len() < nth && taken.len() < length as usize {
                assert_eq!(host.asked.len(), 1, "{case}: {} of {waits} waited", taken.len());
                let (id, wants_fetch) = buffer.take().unwrap();
                taken.push(id);
                if wants_fetch {
                    host.supply.wants_more(tag, host.clocks());
                }
                host.drive();
            }
            if (taken.len() as i64) < nth as i64 {
                assert_eq!(host.asked.len(), 1, "{case}: it is short");
                host.wait(tag, 1);
                host.drive();
            }
            assert!(host.asked.len() >= 2, "{case}: {waits} waited");
        }
    }
}

#[test]
fn with_a_prefetch_of_100_only_who_needs_ids_has_them_fetched() {
    for (prefetch, ahead) in [(99, 1), (100, 0)] {
        let prewarm = Prewarm::Tags(vec!["order".into()]);
        let mut host = Host::new(SupplySettings { step: Some(200), prefetch, prewarm, ..settings() });
        let (tag, buffer) = host.tag("order");
        host.drive();
        assert_eq!(
            (buffer.take_many(200).unwrap().0.count, host.asked.len()),
            (200, 1),
            "before the first use"
        );
        let ticket = host.wait(tag, 200);
        host.drive();
        assert_eq!((host.collect(ticket).unwrap().len(), host.asked.len()), (200, 2 + ahead));
        // Who cannot wait comes back.
        buffer.take_many(200).ok();
        let wish = Wish { count: 200, blocks_at_most: Some(Duration::ZERO), ..Wish::default() };
        let ticket = host.supply.wait(tag, wish, host.clocks());
        assert!(host.collect(ticket).is_err());
        host.drive();
        assert_eq!((buffer.take_many(200).unwrap().0.count, host.asked.len()), (200, 3 + ahead));
    }
}
