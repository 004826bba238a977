//! From the options of a user to the settings of a run.

use leafid_core::http::{HttpProxy, HttpServer, HttpServers};
use leafid_core::options::{Environment, OptionOf, OptionValue, OptionValues, RunOptions};
use leafid_core::place::PlaceSettings;
use leafid_core::run::{RunSettings, Workers};
use leafid_core::server::ServersHealth;
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
