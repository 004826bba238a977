//! Ids inside of UUIDs are what tests/vectors/uuids.json says, both ways, for every refusal.

use crate::common::{entries, number, text, uuid_vectors};
use leafid_core::{Code, TextForm, id_to_uuid, uuid_to_id};

#[test]
fn an_id_has_its_uuid_and_the_uuid_its_id() {
    for entry in entries(&uuid_vectors(), "valid") {
        let (id, bytes) = (number(entry, "id"), text(entry, "bytes"));
        let uuid = u128::from_str_radix(bytes, 16).unwrap();
        assert_eq!(id_to_uuid(id), Ok(uuid), "{id}");
        assert_eq!(uuid_to_id(uuid), Ok(id), "{bytes}");
        assert_eq!(text(entry, "uuid").replace('-', ""), bytes);
        assert_eq!(TextForm::Uuid.format_id(id).as_deref(), Ok(text(entry, "uuid")));
    }
}

#[test]
fn the_order_of_uuids_is_the_order_of_the_ids() {
    for pair in entries(&uuid_vectors(), "valid").windows(2) {
        let [low, high] = [&pair[0], &pair[1]].map(|entry| number(entry, "id"));
        assert!(low < high && id_to_uuid(low).unwrap() < id_to_uuid(high).unwrap(), "{pair:?}");
    }
}

#[test]
fn each_bit_that_is_not_the_ids_is_fixed() {
    let ids_own = id_to_uuid(i64::MAX).unwrap() ^ id_to_uuid(0).unwrap();
    assert_eq!(ids_own.count_ones(), 63);
    for entry in entries(&uuid_vectors(), "valid") {
        let uuid = id_to_uuid(number(entry, "id")).unwrap();
        for bit in (0..128).map(|place| 1u128 << place) {
            let other = uuid_to_id(uuid ^ bit);
            assert_eq!(other.is_ok(), ids_own & bit != 0, "{uuid:x} {bit:x}");
            assert_ne!(other, Ok(number(entry, "id")));
        }
    }
}

#[test]
fn any_other_uuid_is_refused_and_the_error_says_why() {
    for entry in entries(&uuid_vectors(), "refused") {
        let uuid = u128::from_str_radix(&text(entry, "uuid").replace('-', ""), 16).unwrap();
        let error = uuid_to_id(uuid).expect_err(&entry.to_string());
        assert_eq!((error.code(), error.message()), (Code::InvalidArgument, text(entry, "message")));
    }
    for id in entries(&uuid_vectors(), "id_refused") {
        let error = id_to_uuid(id.as_str().unwrap().parse().unwrap()).unwrap_err();
        assert_eq!(
            error.message(),
            format!("id is {}; allowed: 0 to 9223372036854775807", id.as_str().unwrap())
        );
    }
}
