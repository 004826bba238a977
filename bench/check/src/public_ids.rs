//! The paths of public ids. Where the processor has no AES instructions they cost several times as much, and the check
//! fails.

use crate::one_by_one;
use leafid::{PublicIdKey, PublicIds};
use std::hint::black_box;

pub fn count() {
    for (name, length) in [("AES-128", 16), ("AES-256", 32)] {
        let key = PublicIdKey::new(&vec![7; length]).expect("a key");
        let public_ids = PublicIds::new(key, 1).expect("public ids");
        one_by_one(&format!("PublicIds.encrypt, {name}"), || {
            black_box(public_ids.encrypt(black_box(1_169_786_042_799_259_000)).expect("a number"));
        });
    }
}
