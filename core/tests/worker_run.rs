//! A run of a worker id: its settings, and its table of states. What it does is in the scenarios.

use leafid_core::http::{HttpProxy, HttpServer, HttpServers};
use leafid_core::options::{Environment, OptionOf, OptionValue, OptionValues, RunOptions};
use leafid_core::place::PlaceSettings;
use leafid_core::run::{RunSettings, Workers};
use leafid_core::server::ServersHealth;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

fn options(set: &[(&str, OptionValue)]) -> RunOptions {
    let mut values = OptionValues::new(OptionOf::Snowflake);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()).unwrap());
    RunOptions::parse(&values, &Environment { variable: &|_| None, host_name: "orders-3" }).unwrap()
}

fn settings(worker: OptionValue) -> RunSettings {
    RunSettings::of(&options(&[("worker", worker)]), |_| None)
}

#[test]
fn each_source_of_worker_ids_is_that_of_the_options() {
    assert_eq!(settings(OptionValue::Range(3, 9)).workers, Workers::Within { first: 3, last: 9 });
    assert_eq!(settings(OptionValue::Callback).workers, Workers::Callback { leases: false });
    assert_eq!(settings(OptionValue::Leases).workers, Workers::Callback { leases: true });
    let proxy = HttpProxy { url: "http://proxy:3128".into(), variable: "https_proxy" };
    let urls = ["http://one/", "https://two"].map(String::from).to_vec();
    let options =
        options(&[("worker", OptionValue::Texts(urls)), ("connect_timeout_ms", OptionValue::Int(70))]);
    let settings = RunSettings::of(&options, |url| (url == "https://two").then(|| proxy.clone()));
    let servers = HttpServers {
        option: "worker",
        servers: vec![
            HttpServer { url: "http://one".into(), proxy: None },
            HttpServer { url: "https://two".into(), proxy: Some(proxy.clone()) },
        ],
        request_timeout: Duration::from_secs(1),
        connect_timeout: Duration::from_millis(70),
    };
    let health = ServersHealth::new(2);
    assert_eq!(settings.workers, Workers::Servers { servers: Arc::new(servers), health });
}

#[test]
fn the_settings_are_those_of_the_options() {
    let flag = OptionValue::Flag(true);
    let ms = OptionValue::Int(300);
    let set = [
        ("worker", OptionValue::Int(7)),
        ("lazy", flag),
        ("timeout_ms", ms.clone()),
        ("no_record_wait_ms", ms),
    ];
    let options = options(&set);
    let settings = RunSettings::of(&options, |_| None);
    assert_eq!((settings.lazy, settings.persist, settings.peer_times), (true, true, false));
    assert_eq!((settings.timeout, settings.start_after), (Duration::from_millis(300), options.start));
    assert_eq!((settings.layout, settings.rules), (options.layout, options.rules));
    let place = PlaceSettings::of(&options);
    assert_eq!((place.workers, place.leases, place.no_record_wait_ms), (options.worker.ids(), false, 300));
}

/// The names in the first column of the head's table, and those in its last column.
fn told(source: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let rows =
        source.lines().take_while(|line| line.starts_with("//!")).filter(|line| line.starts_with("//! | `"));
    let names = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    let (mut from, mut to) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        from.extend(names(cells[1]));
        to.extend(names(cells[3]));
    }
    (from, to)
}

/// The variants of an enum.
fn written(source: &str, name: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once(&format!("enum {name} {{")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let variants = body.lines().map(str::trim).filter(|line| line.starts_with(char::is_uppercase));
    variants.map(|line| line.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned()).collect()
}

#[test]
fn each_state_of_a_machine_is_in_its_table() {
    for (source, name) in [
        (include_str!("../src/run/order.rs"), "Life"),
        (include_str!("../src/run/round.rs"), "RoundStage"),
        (include_str!("../src/run/id_claim.rs"), "IdStage"),
        (include_str!("../src/run/loss.rs"), "LossStage"),
        (include_str!("../src/run/order_end.rs"), "CloseStage"),
        (include_str!("../src/run/leaving.rs"), "LeavingStage"),
    ] {
        let (from, to) = told(source);
        let states = written(source, name);
        let named: BTreeSet<String> = from.union(&to).cloned().collect();
        assert_eq!(named, states, "{name}");
    }
}
