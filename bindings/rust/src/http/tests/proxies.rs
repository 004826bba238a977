//! Tests of the proxy variables of the environment, each case in its own process.

use super::fake_server::{FakeServer, ManualPool, Seen, fetch, http, options};
use super::tls::Authority;
use crate::http::HttpOptions;
use crate::programs::this_program;
use std::io::{BufRead, BufReader, Write, copy};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

const SERVER: &str = "http://ids.example.invalid";
const NAMES: [&str; 4] = ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];

/// Fetches twice in a process with this environment. Returns the error, or "" if both were answered.
fn fetched(environment: &[(&str, &str)], servers: &str) -> String {
    let mut command = this_program();
    for name in NAMES {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    let ran = command
        .args(["--exact", "http::tests::proxies::fetches", "--ignored", "--nocapture"])
        .env_remove("REQUEST_METHOD")
        .envs(environment.iter().copied())
        .env("LEAFID_TEST_SERVER", servers)
        .output()
        .unwrap();
    let output = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{output}");
    let (_, said) = output.split_once("fetched:").unwrap();
    said.lines().next().unwrap().to_owned()
}

/// Only the tests below run it.
#[test]
#[ignore = "a helper process of other tests"]
fn fetches() {
    let Ok(servers) = std::env::var("LEAFID_TEST_SERVER") else { return };
    let servers: Vec<String> = servers.split(',').map(Into::into).collect();
    let ca_file = std::env::var_os("LEAFID_TEST_CA").map(Into::into);
    let twice = ManualPool::open(HttpOptions { ca_file, ..options(&servers) })
        .and_then(|source| fetch(&source, "order").and_then(|_| fetch(&source, "order")));
    println!("fetched:{}", twice.map_or_else(|error| error.to_string(), |_| String::new()));
}

fn asked(proxy: &FakeServer) -> Vec<(String, String)> {
    proxy.seen().into_iter().map(|Seen { method, path, .. }| (method, path)).collect()
}

#[test]
fn an_http_server_is_asked_with_its_whole_url() {
    let proxy = FakeServer::right();
    let named = format!("http://ann:p%40ss@{}", proxy.address);
    assert_eq!(fetched(&[("http_proxy", &named)], "http://ids.example.invalid:8080/leafid/"), "");
    let seen = proxy.seen();
    let url = "http://ids.example.invalid:8080/leafid/api/segment/range/order";
    assert_eq!(asked(&proxy), vec![("POST".into(), url.into()); 2]);
    for seen in &seen {
        assert_eq!(seen.headers["host"], "ids.example.invalid:8080");
        assert_eq!(seen.headers["proxy-authorization"], "Basic YW5uOnBAc3M=");
        assert_eq!(seen.connection, 1);
    }
}

#[test]
fn a_proxy_may_speak_tls() {
    let authority = Authority::new();
    let proxy = authority.server(&["localhost"], |_| {}, Seen::right);
    let named = format!("https://localhost:{}", proxy.address.port());
    let ca = authority.file();
    let environment = [("HTTP_PROXY", named.as_str()), ("LEAFID_TEST_CA", ca.to_str().unwrap())];
    assert_eq!(fetched(&environment, SERVER), "");
    let url = "http://ids.example.invalid/api/segment/range/order";
    assert_eq!(asked(&proxy), vec![("POST".into(), url.into()); 2]);
}

#[test]
fn an_https_server_is_asked_through_a_connect() {
    let authority = Authority::new();
    let server = authority.server(&["ids.example.invalid"], |_| {}, Seen::right);
    let (proxy, heads) = tunnel(server.address);
    let ca = authority.file();
    let environment =
        [("https_proxy", &*format!("ann:p%40ss@{proxy}")), ("LEAFID_TEST_CA", ca.to_str().unwrap())];
    assert_eq!(fetched(&environment, "https://ids.example.invalid/leafid"), "");
    assert_eq!(asked(&server), vec![("POST".into(), "/leafid/api/segment/range/order".into()); 2]);
    let heads = heads.lock().unwrap();
    assert_eq!(heads.len(), 1);
    assert_eq!(heads[0][0], "CONNECT ids.example.invalid:443 HTTP/1.1");
    assert!(heads[0].contains(&"Proxy-Authorization: Basic YW5uOnBAc3M=".to_owned()), "{:?}", heads[0]);
}

/// A proxy that connects everybody to this server, and the heads of the requests that it got.
fn tunnel(to: SocketAddr) -> (SocketAddr, Arc<Mutex<Vec<Vec<String>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, heads) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<Vec<String>>>>::default());
    let seen = Arc::clone(&heads);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let lines = BufReader::new(client.try_clone().unwrap()).lines().map(Result::unwrap);
            seen.lock().unwrap().push(lines.take_while(|line| !line.is_empty()).collect());
            let mut server = TcpStream::connect(to).unwrap();
            client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").unwrap();
            let (mut to_server, mut from_server) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = copy(&mut client, &mut to_server);
                let _ = to_server.shutdown(Shutdown::Write);
            });
            std::thread::spawn(move || copy(&mut server, &mut from_server));
        }
    });
    (address, heads)
}

#[test]
fn a_proxy_is_never_used_for_loopback() {
    let (proxy, server) = (FakeServer::right(), FakeServer::right());
    for host in ["localhost", "127.0.0.1"] {
        let direct = format!("http://{host}:{}", server.address.port());
        assert_eq!(fetched(&[("all_proxy", &proxy.url())], &direct), "");
        assert_eq!(fetched(&[("all_proxy", &proxy.url())], &format!("{direct},{SERVER}")), "");
    }
    assert_eq!((proxy.seen().len(), server.seen().len()), (0, 8));
}

/// 0.0.0.0 reaches this machine, and is no address of loopback.
#[test]
#[cfg(unix)]
fn a_server_in_no_proxy_is_asked_directly() {
    for list in ["*", "a.example, 0.0.0.0", "a.example 0.0.0.0/8", "0.0.0.0:PORT"] {
        for (name, directly) in [("no_proxy", 2), ("NO_PROXY", 2), ("NO_PROXIES", 0)] {
            let (proxy, server) = (FakeServer::right(), FakeServer::right());
            let port = server.address.port().to_string();
            let environment = [("http_proxy", &*proxy.url()), (name, &*list.replace("PORT", &port))];
            assert_eq!(fetched(&environment, &format!("http://0.0.0.0:{port}")), "");
            assert_eq!((server.seen().len(), proxy.seen().len()), (directly, 2 - directly), "{name} {list}");
        }
    }
}

/// Names of variables have no case on Windows.
#[test]
#[cfg(unix)]
fn the_variable_of_a_scheme_goes_before_that_of_all() {
    let other = "http://127.0.0.1:1";
    for environment in [
        &[("http_proxy", ""), ("HTTP_PROXY", other), ("all_proxy", other), ("https_proxy", other)][..],
        &[("HTTP_PROXY", ""), ("ALL_PROXY", other), ("HTTPS_PROXY", other)],
        &[("http_proxy", " "), ("HTTP_PROXY", "")],
        &[("all_proxy", ""), ("ALL_PROXY", other), ("https_proxy", other)],
        // HTTP_PROXY of a CGI program is the header of its client.
        &[("REQUEST_METHOD", "GET"), ("HTTP_PROXY", other), ("all_proxy", "")],
    ] {
        let proxy = FakeServer::right();
        // The first proxy variable without a value is the one that should count, if the others are not for CGI.
        let counts = environment.iter().position(|(_, value)| value.is_empty()).unwrap();
        let url = proxy.url();
        let mut environment = environment.to_vec();
        environment[counts].1 = &url;
        assert_eq!(fetched(&environment, SERVER), "", "{environment:?}");
        assert_eq!(proxy.seen().len(), 2, "{environment:?}");
    }
}

#[test]
fn errors_name_the_proxy_and_never_its_password() {
    let refusing = FakeServer::saying(http("403 Forbidden", "", ""));
    let address = refusing.address.to_string();
    let dead = "127.0.0.1:1";
    for (variable, proxy, server, said) in [
        ("http_proxy", &*address, SERVER, "answered 403"),
        ("https_proxy", &*address, "https://ids.example.invalid", "403/403 to CONNECT"),
        ("http_proxy", dead, SERVER, "cannot be reached"),
        ("https_proxy", dead, "https://ids.example.invalid", "cannot be reached"),
    ] {
        let error = fetched(&[(variable, &format!("http://zoe:sesame@{proxy}"))], server);
        let through = format!(" through the proxy http://{proxy} ({variable}) ");
        assert!(error.contains(&through) && error.contains(server) && error.contains(said), "{error}");
        assert!(!error.contains("zoe") && !error.contains("sesame"), "{error}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_refused_where_it_would_be_needed() {
    let server = FakeServer::right();
    for (proxy, why) in [
        ("socks5://zoe:sesame@127.0.0.1:1", "all_proxy is a proxy of Socks5"),
        ("http://zoe:sesame@/", "all_proxy is no URL of a proxy"),
        ("http://zoe:sesame@le ak:1", "all_proxy is no URL of a proxy"),
        ("gopher://zoe:sesame@leak", "all_proxy is no URL of a proxy"),
    ] {
        let error = fetched(&[("all_proxy", proxy)], SERVER);
        assert!(error.contains(why) && error.contains("NO_PROXY"), "{error}");
        assert!(!error.contains("zoe") && !error.contains("sesame"), "{error}");
        assert_eq!(fetched(&[("all_proxy", proxy)], &server.url()), "");
        assert!(
            !fetched(&[("all_proxy", proxy), ("NO_PROXY", "*")], "http://0.0.0.0:1").contains("all_proxy")
        );
    }
}

#[test]
fn no_form_of_a_proxy_shows_its_password() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/secrets.json");
    let vector: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let marker = vector["marker"].as_str().unwrap();
    for form in vector["urls"].as_array().unwrap() {
        let url = form.as_str().unwrap().replace("SCHEME", "http").replace("HOST", "127.0.0.1:1");
        let said = fetched(&[("http_proxy", &url)], SERVER);
        assert!(!said.is_empty() && !said.contains(marker), "{url:?}: {said}");
    }
}
