//! When the next fetch is asked for.

use super::{Host, settings};
use leafid_core::supply::SupplySettings;

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
