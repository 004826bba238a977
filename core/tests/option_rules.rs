//! What options say together: which exclude each other, and what a source makes of the others.

use leafid_core::options::{
    ChosenBy, Environment, FileTag, OptionOf, OptionValue, OptionValues, Prewarm, RunOptions, SupplyFrom,
    SupplyOptions, WorkerFrom, check_row_tag, check_tag,
};
use leafid_core::wire::leaf::LeafMode;
use leafid_core::{IdOrder, Layout, OnClockBackwards, Result};

type Set<'s> = &'s [(&'s str, OptionValue)];

const URL: &str = "http://a";

fn text(text: &str) -> OptionValue {
    OptionValue::Text(text.into())
}

fn int(number: i64) -> OptionValue {
    OptionValue::Int(number)
}

fn flag(flag: bool) -> OptionValue {
    OptionValue::Flag(flag)
}

fn values(of: OptionOf, set: Set<'_>) -> OptionValues {
    let mut values = OptionValues::new(of);
    set.iter().for_each(|(name, value)| values.set(name, value.clone()).unwrap());
    values
}

/// With variables on a host called orders-3.
fn run_in(variables: &[(&str, &str)], set: Set<'_>) -> Result<RunOptions> {
    let variable = |asked: &str| {
        variables.iter().find(|(name, _)| *name == asked).map(|(_, value)| value.as_bytes().to_vec())
    };
    let environment = Environment { variable: &variable, host_name: "orders-3" };
    RunOptions::parse(&values(OptionOf::Snowflake, set), &environment)
}

fn run(set: Set<'_>) -> Result<RunOptions> {
    run_in(&[], set)
}

fn supply(set: Set<'_>) -> Result<SupplyOptions> {
    let environment = Environment { variable: &|_| None, host_name: "" };
    SupplyOptions::parse(&values(OptionOf::Segments, set), &environment)
}

#[track_caller]
fn says<T>(answer: Result<T>, begins: &str) {
    let Err(error) = answer else { panic!("taken, and not refused by {begins:?}") };
    assert!(error.message().starts_with(begins), "{error}");
}

/// What has no meaning without servers.
fn of_servers() -> [(&'static str, OptionValue); 5] {
    [
        ("token", text("x")),
        ("headers", OptionValue::Headers(vec![("x-a".into(), "b".into())])),
        ("ca_file", text("ca.pem")),
        ("request_timeout_ms", int(5)),
        ("connect_timeout_ms", int(5)),
    ]
}

#[test]
fn a_worker_must_be_named() {
    says(run(&[]), "worker is not set, nor is LEAFID_WORKER; allowed: a number");
    let advice = run(&[]).unwrap_err();
    assert!(
        advice.message().contains(": LEAFID_WORKER=local. ")
            && advice.message().ends_with("LEAFID_WORKER=0-31")
    );
    // On a platform without files, `local` is no advice.
    let nowhere = Environment { variable: &|_| None, host_name: "" };
    let error = RunOptions::parse(&values(OptionOf::Snowflake, &[]), &nowhere).unwrap_err();
    assert!(error.message().ends_with("leafid help options"), "{error}");
    let ids = |variable| match run_in(&[("LEAFID_WORKER", variable)], &[]).unwrap().worker {
        WorkerFrom::Ids(ids) => (ids.first, ids.last, ids.chosen_by),
        other => panic!("{other:?}"),
    };
    assert_eq!(ids("0-31"), (0, 31, ChosenBy::User));
    assert_eq!(ids("local"), (0, 255, ChosenBy::Local));
    assert_eq!(ids("hostname:orders*8"), (24, 31, ChosenBy::HostName));
    says(run_in(&[("LEAFID_WORKER", "http://a:0")], &[]), "LEAFID_WORKER is \"http://a:0\", whose port");
}

#[test]
fn a_lazy_snowflake_needs_a_worker_when_it_claims() {
    let lazy = values(OptionOf::Snowflake, &[("lazy", flag(true))]);
    let claim = |variable: &dyn Fn(&str) -> Option<Vec<u8>>| {
        RunOptions::parse_for_claim(&lazy, &Environment { variable, host_name: "orders-3" })
    };
    assert_eq!(run(&[("lazy", flag(true))]).unwrap().worker, WorkerFrom::Later);
    says(claim(&|_| None), "worker is not set, nor is LEAFID_WORKER; allowed: a number");
    let set = |name: &str| (name == "LEAFID_WORKER").then(|| b"7".to_vec());
    assert!(claim(&set).unwrap().worker.ids().is_some_and(|ids| ids.first == 7));
    // It may be leased.
    assert!(run(&[("lazy", flag(true)), ("persist", flag(false)), ("on_exhausted", text("borrow"))]).is_ok());
    says(run(&[("lazy", flag(true)), ("timeout_ms", int(0))]), "timeout_ms is 0");
}

#[test]
fn a_worker_is_what_its_value_says() {
    let from = |value| run(&[("worker", value)]).unwrap().worker;
    for (value, leases, ids) in [
        (int(7), false, Some((7, 7))),
        (OptionValue::Range(0, 31), false, Some((0, 31))),
        (OptionValue::Callback, false, None),
        (OptionValue::Leases, true, None),
        (text(" HTTP://a:1/x/ , http://b "), true, None),
        (OptionValue::Texts(vec![URL.into()]), true, None),
    ] {
        let from = from(value);
        let found = from.ids().map(|ids| (ids.first, ids.last));
        assert_eq!((from.leases_spans(), found), (leases, ids), "{from:?}");
    }
    let WorkerFrom::Servers(servers) = from(text(" HTTP://a:1/x/ , http://b ")) else { panic!() };
    assert_eq!(servers.urls, ["HTTP://a:1/x", "http://b"]);
}

#[test]
fn options_for_servers_need_servers() {
    for (name, value) in of_servers() {
        let says_so = format!("{name} is set; allowed: only with the URL of a lease server as worker");
        says(run(&[("worker", int(7)), (name, value.clone())]), &says_so);
        says(run(&[("worker", OptionValue::Leases), (name, value.clone())]), &says_so);
        assert!(run(&[("worker", text(URL)), (name, value.clone())]).is_ok(), "{name}");
        let says_so = format!("{name} is set; allowed: only with servers over HTTP");
        says(supply(&[("fetch", OptionValue::Callback), (name, value.clone())]), &says_so);
        says(supply(&[("servers", text("file:/a")), (name, value.clone())]), &says_so);
        assert!(supply(&[("servers", text(URL)), (name, value)]).is_ok(), "{name}");
    }
    let none = [("worker", int(7)), ("headers", OptionValue::Headers(Vec::new()))];
    assert!(run(&none).is_ok(), "no header at all");
}

#[test]
fn variables_for_servers_need_none() {
    let set = [("LEAFID_TOKEN", "s3cret"), ("LEAFID_CA_FILE", "/ca.pem")];
    let asked = |variables: &[(&str, &str)], set: Set<'_>| {
        let url = [&[("worker", text(URL))], set].concat();
        let WorkerFrom::Servers(servers) = run_in(variables, &url).unwrap().worker else { panic!() };
        (servers.token, servers.ca_file)
    };
    assert_eq!(asked(&set, &[]), (Some("s3cret".into()), Some(b"/ca.pem".to_vec())));
    let own = [("token", text("own")), ("ca_file", text("own.pem"))];
    assert_eq!(asked(&set, &own), (Some("own".into()), Some(b"own.pem".to_vec())));
    assert_eq!(asked(&[("LEAFID_TOKEN", ""), ("LEAFID_CA_FILE", "")], &[]), (None, None));
    for worker in [int(7), text("0-31"), OptionValue::Leases] {
        assert!(run_in(&set, &[("worker", worker)]).is_ok());
    }
    let error = run_in(&[("LEAFID_TOKEN", "s3\ncret")], &[("worker", text(URL))]).unwrap_err();
    assert!(
        error.message().starts_with("LEAFID_TOKEN is a text with a control character; allowed: "),
        "{error}"
    );
    let variable = |name: &str| (name == "LEAFID_TOKEN").then(|| b"s3cret".to_vec());
    let environment = Environment { variable: &variable, host_name: "" };
    let parsed = |set: Set<'_>| SupplyOptions::parse(&values(OptionOf::Segments, set), &environment).unwrap();
    for protocol in ["range", "leaf", "tinyid"] {
        let options = parsed(&[("servers", text(URL)), ("protocol", text(protocol))]);
        assert_eq!(options.from.servers().unwrap().token.as_deref(), Some("s3cret"), "{protocol}");
    }
    assert_eq!(parsed(&[("fetch", OptionValue::Callback)]).from, SupplyFrom::Callback);
}

#[test]
fn without_a_record_an_id_is_certain_and_never_ahead() {
    let (unstored, borrows) = (("persist", flag(false)), ("on_exhausted", text("borrow")));
    says(
        run(&[("worker", OptionValue::Range(0, 1)), unstored.clone()]),
        "persist is false; allowed: true with",
    );
    assert!(run(&[("worker", OptionValue::Range(1, 1)), unstored.clone()]).is_ok());
    let one_worker = ("layout", text("41|0|22"));
    says(
        run(&[("worker", text("local")), one_worker, unstored.clone()]),
        "persist is false; allowed: true with",
    );
    says(
        run(&[("worker", int(7)), unstored.clone(), borrows.clone()]),
        "on_exhausted is \"borrow\"; allowed",
    );
    assert!(run(&[("worker", text(URL)), unstored.clone(), borrows.clone()]).is_ok());
    assert!(run(&[("worker", int(7)), borrows.clone()]).is_ok());
    // And no directory is looked for.
    let stored = run_in(&[("LEAFID_STATE_DIR", "/a")], &[("worker", int(7))]).unwrap();
    assert_eq!(
        stored.state_dir.map(|named| (named.said, named.path)),
        Some(("LEAFID_STATE_DIR", b"/a".to_vec()))
    );
    let none = run_in(&[("LEAFID_STATE_DIR", "")], &[("worker", int(7)), unstored]).unwrap();
    assert_eq!(none.state_dir, None);
}

#[test]
fn the_rules_of_a_generator_fit_together() {
    let waits = ("on_clock_backwards", text("wait"));
    let with = |set: Set<'_>| run(&[&[("worker", int(7))], set].concat());
    says(
        with(&[waits.clone(), ("on_exhausted", text("borrow"))]),
        "on_exhausted is \"borrow\"; allowed: \"wait\"",
    );
    says(with(&[("max_backwards_ms", int(99))]), "max_backwards_ms is 99; ");
    let rules = with(&[waits, ("max_backwards_ms", int(0))]).unwrap().rules;
    assert_eq!((rules.on_clock_backwards, rules.max_backwards_ms), (OnClockBackwards::Wait, 0));
    let early = with(&[("layout", text("yitter")), ("epoch_ms", int(1_000))]).unwrap();
    assert_eq!((early.layout.epoch_ms(), early.layout.max_worker_id()), (1_000, 63));
    let mut fields = Layout::YITTER.fields();
    assert_eq!(with(&[("layout", OptionValue::Layout(fields))]).unwrap().layout, Layout::YITTER);
    fields.worker_bits = 40;
    says(with(&[("layout", OptionValue::Layout(fields))]), "worker_bits is 40; ");
    says(run(&[("worker", int(64)), ("layout", text("yitter"))]), "worker is 64; allowed: 0 to 63");
    let id = Layout::LEAF.compose(Layout::LEAF.epoch_ms() + 9, 0, 0).unwrap();
    assert_eq!(with(&[("start_after", int(id))]).unwrap().start, 10);
}

#[test]
fn a_lease_needs_no_wait_for_a_lost_record() {
    let wait = ("no_record_wait_ms", int(5));
    says(run(&[("worker", text(URL)), wait.clone()]), "no_record_wait_ms is 5; allowed: 0 with leases");
    assert_eq!(run(&[("worker", int(7)), wait]).unwrap().no_record_wait_ms, 5);
    let variable = [("LEAFID_NO_RECORD_WAIT_MS", "9")];
    assert_eq!(run_in(&variable, &[("worker", int(7))]).unwrap().no_record_wait_ms, 9);
    assert_eq!(run_in(&variable, &[("worker", OptionValue::Leases)]).unwrap().no_record_wait_ms, 0);
}

#[test]
fn the_environment_states_what_the_user_did_not() {
    let of = |variables: &[(&str, &str)], set: Set<'_>| {
        let options = run_in(variables, &[&[("worker", int(7))], set].concat()).unwrap();
        (options.shared_group, options.exclusive_range)
    };
    let both = [("LEAFID_SHARED_GROUP", "1"), ("LEAFID_EXCLUSIVE_RANGE", "true")];
    assert_eq!(of(&[], &[]), (false, false));
    assert_eq!(of(&both, &[]), (true, true));
    assert_eq!(of(&both, &[("shared_group", flag(false)), ("exclusive_range", flag(false))]), (false, false));
}

#[test]
fn segments_have_one_source() {
    says(supply(&[]), "servers is not set, nor is fetch; ");
    let fetch = ("fetch", OptionValue::Callback);
    says(supply(&[fetch.clone(), ("servers", text(URL))]), "fetch is set together with servers; ");
    for own in [("protocol", text("range")), ("connections", int(1)), ("block_size", int(2))] {
        let name = own.0;
        says(supply(&[fetch.clone(), own]), &format!("{name} is set; allowed: only with servers over HTTP"));
    }
    let tags = ("tags", OptionValue::Tags(vec![("a".into(), FileTag::default())]));
    for own in [("create", flag(true)), tags.clone()] {
        let says_so = format!("{} is set; allowed: only with file:DIR", own.0);
        says(supply(&[fetch.clone(), own.clone()]), &says_so);
        says(supply(&[("servers", text(URL)), own]), &says_so);
    }
    assert!(supply(&[fetch, ("create", flag(false)), ("block_size", int(1))]).is_ok());
    says(supply(&[("servers", text("file:/a\0"))]), "servers is \"file:/a\\0\"; ");
    let file = supply(&[("servers", text("file:/a")), ("create", flag(true)), tags]).unwrap();
    let expected =
        SupplyFrom::File { path: "/a".into(), create: true, tags: vec![("a".into(), FileTag::default())] };
    assert_eq!((file.from, file.order, file.prefetch), (expected, IdOrder::Ascending, 10));
}

#[test]
fn a_counter_begins_within_64_bits() {
    let with = |tag: &str, start, step| {
        let tags = OptionValue::Tags(vec![(tag.into(), FileTag { start, step })]);
        supply(&[("servers", text("file:/a")), ("tags", tags)])
    };
    assert!(with("a", 0, 1).is_ok() && with("a", i64::MAX - 1, 1 << 24).is_ok());
    says(with("", 1, 1), "tag is \"\"; ");
    says(with("a", -1, 1), "the start of the tag \"a\" is -1; allowed: 0 to 9223372036854775806");
    says(with("a", i64::MAX, 1), "the start of the tag \"a\" is 9223372036854775807; ");
    says(with("a", 1, 0), "the step of the tag \"a\" is 0; allowed: 1 to 16777216");
    says(with("a", 1, (1 << 24) + 1), "the step of the tag \"a\" is 16777217; ");
}

#[test]
fn a_protocol_has_an_order_and_options_of_its_own() {
    let with = |protocol: &str, set: Set<'_>| {
        supply(&[&[("servers", text(URL)), ("protocol", text(protocol))], set].concat())
    };
    let (ordered, unordered) = (("ordered_source", flag(true)), ("ordered_source", flag(false)));
    for (protocol, set, order) in [
        ("leaf", None, IdOrder::Ranges),
        ("leaf", Some(unordered.clone()), IdOrder::Ranges),
        ("leaf-snowflake", None, IdOrder::Sparse),
        ("range", None, IdOrder::Ascending),
        ("range", Some(unordered.clone()), IdOrder::Ranges),
        ("tinyid", None, IdOrder::Ranges),
        ("tinyid", Some(ordered.clone()), IdOrder::Ascending),
    ] {
        assert_eq!(with(protocol, set.as_slice()).unwrap().order, order, "{protocol}");
    }
    for leaf in ["leaf", "leaf-snowflake"] {
        says(
            with(leaf, std::slice::from_ref(&ordered)),
            "ordered_source is true; allowed: false with a Leaf",
        );
    }
    let blocks = ("block_size", int(10));
    let SupplyFrom::Leaf(mode, _) = with("leaf", std::slice::from_ref(&blocks)).unwrap().from else {
        panic!()
    };
    assert_eq!(mode, LeafMode::Segment { block_size: 10 });
    for other in ["leaf-snowflake", "range", "tinyid"] {
        says(
            with(other, std::slice::from_ref(&blocks)),
            "block_size is 10; allowed: set only with protocol \"leaf\"",
        );
    }
    says(with("tinyid", &[("step", int(5))]), "step is 5; allowed: not set with protocol \"tinyid\"");
    // Its token is no header, and may have any character.
    let token = ("token", text("a\n"));
    assert!(with("tinyid", std::slice::from_ref(&token)).is_ok());
    says(with("range", &[token]), "token is a text with a control character; ");
}

#[test]
fn tags_are_fetched_ahead_if_the_source_can_have_them() {
    let with = |servers: &str, tags: Vec<String>| {
        supply(&[("servers", text(servers)), ("prewarm", OptionValue::Texts(tags))])
    };
    let dotted = vec!["a.b".into()];
    says(with(URL, dotted.clone()), "tag is \"a.b\"; allowed: without a dot with a Leaf");
    assert_eq!(with("file:/a", dotted.clone()).unwrap().prewarm, Prewarm::Tags(dotted));
    assert_eq!(with(URL, Vec::new()).unwrap().prewarm, Prewarm::None);
    assert!(with(URL, vec!["a".into(); 1_000]).is_ok());
    says(with(URL, vec!["a".into(); 1_001]), "prewarm is 1001 tags; ");
    says(
        supply(&[("servers", text(URL)), ("keep_unused", flag(true)), ("persist", flag(false))]),
        "keep_unused is true; ",
    );
}

#[test]
fn servers_are_few_and_their_urls_short() {
    let with = |urls: Vec<String>| supply(&[("servers", OptionValue::Texts(urls))]);
    let long = |bytes: usize| format!("{URL}/{}", "a".repeat(bytes - URL.len() - 1));
    assert!(with(vec![URL.into(); 64]).is_ok());
    says(with(vec![URL.into(); 65]), "servers is 65 URLs; allowed: 1 to 64 URLs");
    assert!(with(vec![long(2_000)]).is_ok());
    says(
        with(vec![URL.into(), long(2_001)]),
        "servers is a URL of 2001 bytes; allowed: URLs of at most 2000 bytes",
    );
}

#[test]
fn a_tag_has_up_to_128_bytes_and_a_row_so_many_characters() {
    for (length, is_ok) in [(0, false), (1, true), (128, true), (129, false)] {
        assert_eq!(check_tag(&"x".repeat(length)).is_ok(), is_ok, "{length}");
        assert_eq!(check_row_tag(&"\u{8a02}".repeat(length)).is_ok(), is_ok, "{length}");
    }
    assert!(check_tag("a\n").is_err() && check_row_tag("a\n").is_err());
}

#[test]
fn headers_are_names_and_texts_of_http() {
    let with = |headers: &[(&str, &str)], token: Option<&str>| {
        let headers = headers.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let mut set = vec![("worker", text(URL)), ("headers", OptionValue::Headers(headers))];
        set.extend(token.map(|token| ("token", text(token))));
        run(&set)
    };
    assert!(with(&[("X-a!~", "\tb \u{fc}"), ("x-b", "")], Some("t")).is_ok());
    says(with(&[("x a", "s3cret")], None), "headers is a name of 3 bytes with another character; ");
    says(with(&[("", "s3cret")], None), "headers is a name of 0 bytes with another character; ");
    says(
        with(&[("x-a", "s3\rcret")], None),
        "headers is \"x-a\"; allowed: a value without control characters",
    );
    says(with(&[("x-a", "b"), ("X-A", "c")], None), "headers is \"X-A\"; allowed: each name once");
    says(with(&[("Authorization", "b")], Some("t")), "headers is \"Authorization\"; allowed: each name once");
    assert!(with(&[("Authorization", "b")], None).is_ok());
    says(with(&[("Content-Length", "1")], None), "headers is \"Content-Length\"; allowed: other names than");
    // authorization: Bearer t is 13 + 8 bytes.
    let long = "x".repeat(8 * 1024 - 21 - 3);
    assert!(with(&[("x-a", &long)], Some("t")).is_ok());
    says(with(&[("x-a", &long)], Some("tt")), "headers is 8193 bytes; allowed: at most 8192, with the token");
}
