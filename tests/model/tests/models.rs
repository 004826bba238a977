//! Each test tries all states of a model.

use leafid_model::worker_run::Ids;
use leafid_model::{bounds, check, lease, record, supply, worker_run};

#[test]
fn whatever_two_machines_do_with_one_record_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::record();
    check::holds("record", bounds, record::Model { bounds });
}

#[test]
fn whatever_three_holders_and_a_lease_server_do_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::three_holders();
    check::holds("lease, three holders", bounds, lease::Model { bounds });
}

#[test]
fn whatever_two_holders_do_while_every_call_may_be_late_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::two_holders();
    check::holds("lease, two holders", bounds, lease::Model { bounds });
}

#[test]
fn whatever_two_supplies_a_restored_counter_and_a_fault_do_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::supply_with_a_fault();
    check::holds("supply, a fault", bounds, supply::Model { bounds });
}

#[test]
fn whatever_two_supplies_a_restored_counter_and_a_kill_do_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::supply_with_a_kill();
    check::holds("supply, a kill", bounds, supply::Model { bounds });
}

#[test]
fn whatever_two_runs_of_one_worker_id_do_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::fixed_run();
    check::holds("run, one worker id", bounds, worker_run::Model { bounds, ids: Ids::Fixed });
}

#[test]
fn whatever_two_runs_and_a_lease_server_do_no_id_comes_twice_and_all_is_given_back() {
    let bounds = bounds::leased_run();
    check::holds("run, two leases", bounds, worker_run::Model { bounds, ids: Ids::Object(2) });
}
