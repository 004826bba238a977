//! `include/leafid_core.h` is what cbindgen makes of this crate, and its numbers are those of `leafid.h`. With
//! LEAFID_UPDATE_HEADER=1 it is written instead.

#[path = "../../c/tests/generated/mod.rs"]
mod generated;

use leafid_core::Code;
use leafid_core_c::leafid_core_status;

/// In the order in which they stand in the header.
const SOURCES: [&str; 5] = ["status.rs", "layout.rs", "id.rs", "text_form.rs", "generator.rs"];

#[test]
fn header_is_generated() {
    let header = generated::header("LEAFID_CORE_VERSION", &SOURCES).unwrap();
    generated::check("leafid_core.h", &header).unwrap();
}

#[test]
fn a_status_has_the_number_of_its_code() {
    let mut seen = 0;
    for code in Code::ALL {
        let status = leafid_core_status::from(code);
        if status != leafid_core_status::LEAFID_CORE_INTERNAL {
            assert_eq!(status as i32, code.number(), "{code:?}");
            seen += 1;
        }
    }
    assert_eq!((seen, leafid_core_status::LEAFID_CORE_INTERNAL as i32), (7, Code::Internal.number()));
}
