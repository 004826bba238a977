//! Tests of TLS with an own authority.

use super::fake_server::{FakeServer, ManualPool, Reaction, Seen, fetch, options, start};
use crate::os;
use leafid_core::{Code, Error};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// An authority, and its PEM file.
pub(super) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    place: TempDir,
}

impl Authority {
    pub(super) fn new() -> Authority {
        Authority::named("ours")
    }

    fn named(name: &str) -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { issuer, place }
    }

    pub(super) fn file(&self) -> PathBuf {
        self.place.path().join("ca.pem")
    }

    /// A server whose certificate has these names and is changed.
    pub(super) fn server(
        &self,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
        react: impl Fn(&Seen) -> Reaction + Send + Sync + 'static,
    ) -> FakeServer {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(ring)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        FakeServer::with_tls(Some(Arc::new(config)), react)
    }

    pub(super) fn source(&self, url: String) -> ManualPool {
        let mut options = options(&[url]);
        options.ca_file = Some(self.file());
        ManualPool::new(options)
    }
}

fn https(server: &FakeServer, host: &str) -> String {
    format!("https://{host}:{}", server.address.port())
}

#[test]
fn an_authority_of_one_s_own() {
    let authority = Authority::new();
    let server = authority.server(&["localhost", "127.0.0.1"], |_| (), Seen::right);
    for (host, first) in [("localhost", 1_000), ("127.0.0.1", 4_000)] {
        let source = authority.source(https(&server, host));
        for fetches in 0..3 {
            assert_eq!(start(fetch(&source, "order")), first + fetches * 1_000, "{host}");
        }
    }
    let connections: Vec<_> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(connections, [1, 1, 1, 2, 2, 2], "a connection is kept");
}

/// An overflow would end the process.
#[test]
fn the_stack_of_leafid_s_threads_is_enough() {
    let authority = Authority::new();
    let server = authority.server(&["localhost"], |_| (), Seen::right);
    let source = authority.source(https(&server, "localhost"));
    let (tell, told) = std::sync::mpsc::channel();
    let thread = os::spawn(c"leafid-test", os::ThreadKind::Internal, move || {
        tell.send(fetch(&source, "order").is_ok()).unwrap();
    });
    assert!(told.recv().unwrap());
    thread.unwrap().join();
}

fn refused(source: &ManualPool) -> Error {
    let error = fetch(source, "order").unwrap_err();
    assert_eq!(error.code(), Code::SegmentUnavailable, "{error}");
    assert!(error.message().starts_with("https://"), "{error}");
    error
}

#[test]
fn certificates_that_are_not_believed_and_why() {
    let authority = Authority::new();
    let server = authority.server(&["other.example"], |_| (), Seen::right);
    let error = refused(&authority.source(https(&server, "localhost")));
    assert!(error.message().contains("must be a name of its certificate"), "{error}");
    let expire = |params: &mut CertificateParams| {
        params.not_before = date_time_ymd(2019, 1, 1);
        params.not_after = date_time_ymd(2020, 1, 1);
    };
    let expired = authority.server(&["localhost"], expire, Seen::right);
    let error = refused(&authority.source(https(&expired, "localhost")));
    assert!(error.message().contains("expired") && error.message().contains("renew its"), "{error}");
    for name in ["ours", "theirs"] {
        let stranger = Authority::named(name).server(&["localhost"], |_| (), Seen::right);
        let error = refused(&authority.source(https(&stranger, "localhost")));
        assert!(error.message().contains("set ca_file"), "{error}");
        assert!(stranger.seen().is_empty());
    }
    assert!(server.seen().is_empty() && expired.seen().is_empty(), "none of them was asked");
}

#[test]
fn plain_http_and_tls_mixed_up() {
    let authority = Authority::new();
    let plain = FakeServer::new(|_| Reaction::Last(b"HTTP/1.1 400 No\r\nContent-Length: 0\r\n\r\n".to_vec()));
    let error = refused(&authority.source(https(&plain, "localhost")));
    assert!(error.message().contains("http://"), "{error}");
    let tls = authority.server(&["localhost"], |_| (), Seen::right);
    let error = fetch(&authority.source(tls.url()), "order").unwrap_err();
    assert!(error.message().contains("if it speaks TLS there, write https://"), "{error}");
}
