//! Lease servers with an authority of one's own.

use crate::common::{Place, until};
use crate::holding::LEASE_MS;
use crate::server::Server;
use leafid::{Code, Error};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::PathBuf;
use std::sync::Arc;

struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    place: tempfile::TempDir,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, "ours");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { issuer, place }
    }

    fn file(&self) -> PathBuf {
        self.place.path().join("ca.pem")
    }

    fn server(&self, name: &str) -> Server {
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        Server::with(LEASE_MS, Some(Arc::new(config)))
    }
}

fn refused(place: &Place, url: &str, ca_file: PathBuf) -> Error {
    let error = place.builder().worker(url).ca_file(ca_file).connect_timeout_ms(2_000).open().unwrap_err();
    assert_eq!(error.code(), Code::WorkerLost, "{error}");
    error
}

#[test]
fn an_authority_of_one_s_own() {
    let (place, authority) = (Place::new(), Authority::new());
    let server = authority.server("localhost");
    let url = format!("https://localhost:{}", server.address.port());
    let builder = place.builder().worker(url.as_str()).ca_file(authority.file()).connect_timeout_ms(2_000);
    let flake = builder.open().unwrap();
    until("two renewals", || {
        assert!(server.covers(flake.next().unwrap()));
        server.seen("renew").len() >= 2
    });
    flake.close().unwrap();
    assert_eq!(server.seen("release").len(), 1);
    let error = place.builder().worker(url).connect_timeout_ms(2_000).open().unwrap_err();
    assert!(error.message().contains("set ca_file to the PEM file"), "{error}");
}

#[test]
fn names_and_schemes_that_are_wrong_are_said() {
    let (place, authority) = (Place::new(), Authority::new());
    let (other, plain) = (authority.server("other.example"), Server::new(LEASE_MS));
    let at = |scheme: &str, server: &Server| format!("{scheme}://localhost:{}", server.address.port());
    let error = refused(&place, &at("https", &other), authority.file());
    assert!(error.message().contains("the host in `worker` must be a name of its certificate"), "{error}");
    let error = refused(&place, &at("https", &plain), authority.file());
    assert!(error.message().contains("write http://"), "{error}");
    let error = refused(&place, &at("http", &other), authority.file());
    assert!(error.message().contains("write https://"), "{error}");
    assert!(other.seen("claim").is_empty());
}
