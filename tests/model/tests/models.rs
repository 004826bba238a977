//! Each test tries all states of a model.

use leafid_model::{bounds, check, lease, record};

#[test]
fn whatever_two_machines_do_with_one_record_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::record();
    check::holds("record", bounds, record::Model { bounds });
}

#[test]
fn whatever_three_holders_and_a_lease_server_do_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::lease();
    check::holds("lease", bounds, lease::Model { bounds });
}
