//! Tests of the proxy variables of the environment, each case in its own process.

use super::fake_server::{FakeServer, Reaction, Seen, fetch, options, start};
use crate::http::ServerPool;
use crate::programs::this_program;

/// Runs the helper below with a proxy.
fn with_proxy(variable: &str, proxy: &str, server: &str) {
    let mut command = this_program();
    for name in ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"] {
        command.env_remove(name).env_remove(name.to_lowercase());
    }
    let ran = command
        .args(["--exact", "http::tests::proxies::fetches", "--ignored"])
        .env(variable, proxy)
        .env("LEAFID_TEST_SERVER", server)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

/// Only the tests below run it.
#[test]
#[ignore = "a helper process of other tests"]
fn fetches() {
    let Ok(server) = std::env::var("LEAFID_TEST_SERVER") else { return };
    let servers: Vec<String> = server.split(',').map(Into::into).collect();
    match ServerPool::new(options(&servers)) {
        Ok(source) => assert!((1_000..=4_000).contains(&start(fetch(&source, "order")))),
        Err(error) => assert!(error.message().contains("is of Socks5"), "{error}"),
    }
}

#[test]
fn a_proxy_is_used_but_never_for_loopback() {
    let proxy = FakeServer::new(|seen| match seen.method.as_str() {
        "CONNECT" => Reaction::Bytes(b"HTTP/1.1 200 Connected\r\n\r\n".to_vec()),
        _ => seen.right(),
    });
    with_proxy("HTTP_PROXY", &proxy.url(), "http://ids.example.invalid");
    let seen: Vec<(String, String)> =
        proxy.seen().into_iter().map(|Seen { method, path, .. }| (method, path)).collect();
    let expected = [("CONNECT", "ids.example.invalid:80"), ("POST", "/api/segment/range/order")]
        .map(|(a, b)| (a.into(), b.into()));
    assert_eq!(seen, expected);
    let server = FakeServer::right();
    for host in ["localhost", "127.0.0.1"] {
        let direct = format!("http://{host}:{}", server.address.port());
        with_proxy("all_proxy", &proxy.url(), &direct);
        with_proxy("all_proxy", &proxy.url(), &format!("{direct},http://ids.example.invalid"));
    }
    assert_eq!((proxy.seen().len(), server.seen().len()), (2, 4));
}

#[test]
fn a_proxy_of_another_kind_is_refused_where_it_would_be_needed() {
    with_proxy("ALL_PROXY", "socks5://127.0.0.1:1", "http://ids.example.invalid");
    let server = FakeServer::right();
    with_proxy("ALL_PROXY", "socks5://127.0.0.1:1", &server.url());
    assert_eq!(server.seen().len(), 1);
}
