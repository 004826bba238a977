//! Each test tries all states of a model.

use leafid_model::worker_run::{Ids, Setting};
use leafid_model::{bounds, check, supply, worker_run};

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
fn whatever_two_runs_of_one_record_do_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::one_record();
    check::holds("run, one record", bounds, worker_run::Model { bounds, worlds: Setting::of_one_record() });
}

#[test]
fn whatever_a_reset_finds_below_a_gap_no_id_comes_twice_and_ids_go_on() {
    let bounds = bounds::long_run();
    check::holds("run, hours", bounds, worker_run::Model { bounds, worlds: Setting::of_hours() });
}

#[test]
fn whatever_two_runs_and_a_user_s_leases_do_no_id_comes_twice_and_all_is_given_back() {
    let bounds = bounds::leased_run();
    let (one, two) = (Setting::leased(Ids::Object(1)), Setting::leased(Ids::Object(2)));
    let worlds = vec![two, one, one.apart(4)];
    check::holds("run, two leases", bounds, worker_run::Model { bounds, worlds });
}

#[test]
fn whatever_is_late_no_span_outlasts_its_lease() {
    let bounds = bounds::late_run();
    check::holds(
        "run, late calls",
        bounds,
        worker_run::Model { bounds, worlds: vec![Setting::leased(Ids::Object(1))] },
    );
}

#[test]
fn whatever_two_hosts_of_different_speed_and_a_lease_server_do_no_id_comes_twice() {
    let bounds = bounds::served_run();
    let leased = Setting::leased(Ids::Server(1));
    let worlds = vec![leased.apart(2), leased.apart(1), leased.apart(4)];
    check::holds("run, a lease server", bounds, worker_run::Model { bounds, worlds });
}
