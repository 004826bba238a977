//! Every code of the host has its number, name and constant in C, as `tests/vectors/errors.json` says.

use leafid::Code;
use leafid_c::{leafid_status, leafid_status_can_retry, leafid_status_name};
use std::ffi::CStr;

fn name(status: i32) -> String {
    // SAFETY: static text that ends with a NUL.
    unsafe { CStr::from_ptr(leafid_status_name(status)) }.to_string_lossy().into_owned()
}

#[test]
fn codes_and_statuses_agree() {
    for code in Code::ALL {
        let status = leafid_status::from(code);
        assert_eq!(status as i32, code.number(), "{code:?}");
        assert_eq!(format!("{status:?}"), format!("LEAFID_{}", code.name().to_uppercase()));
        assert_eq!(name(code.number()), code.name());
        assert_eq!(leafid_status_can_retry(code.number()), code.can_retry(), "{code:?}");
    }
    assert_eq!(name(0), "ok");
    let past = Code::ALL.len() as i32 + 1;
    for other in [-1, past, i32::MIN, i32::MAX] {
        assert_eq!(name(other), "unknown");
        assert!(!leafid_status_can_retry(other));
    }
}
