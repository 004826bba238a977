//! The trusted certificates: the system's authorities and those of `ca_file`.

use leafid_core::options::shown_path;
use leafid_core::{Error, Result};
use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::crypto::{CryptoProvider, KeyProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::SigningKey;
use std::path::Path;
use std::sync::Arc;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Errors: `invalid_argument` if `ca_file` is unusable, or if there is neither `ca_file` nor an authority of the
/// system.
pub(crate) fn tls(ca_file: Option<&Path>) -> Result<TlsConfig> {
    let mut trusted = match ca_file {
        Some(path) => read(path)?,
        None => Vec::new(),
    };
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        log::warn!("leafid: a certificate authority of the system is left out: {error}");
    }
    trusted.extend(system.certs);
    if trusted.is_empty() {
        let allowed = "a PEM file of the authority that signed the server's certificate: the system has none \
                       (Debian: apt install ca-certificates)";
        return Err(Error::invalid("ca_file", "not given", allowed));
    }
    let trusted: Vec<_> = trusted.iter().map(|each| Certificate::from_der(each).to_owned()).collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&trusted))
        // Not the provider of the process: other libraries in it may have set another one.
        .unversioned_rustls_crypto_provider(Arc::new(CryptoProvider {
            key_provider: &NoKeys,
            ..default_provider()
        }))
        .build())
}

/// leafid shows servers a token and never a certificate, so it reads no private key. The code that signs stays out.
#[derive(Debug)]
struct NoKeys;

impl KeyProvider for NoKeys {
    fn load_private_key(
        &self,
        _: PrivateKeyDer<'static>,
    ) -> std::result::Result<Arc<dyn SigningKey>, rustls::Error> {
        Err(rustls::Error::General("leafid has no certificate of its own".to_owned()))
    }
}

/// The certificates of a PEM file: at least one, each readable.
fn read(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let shown = shown_path(&path.to_string_lossy());
    let wrong =
        |why: &str| Error::invalid("ca_file", format!("{shown:?}: {why}"), "a PEM file of certificates");
    let bytes = std::fs::read(path).map_err(|error| wrong(&error.to_string()))?;
    let mut certificates = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|error| wrong(&error.to_string()))?;
        RootCertStore::empty().add(certificate.clone()).map_err(|error| wrong(&error.to_string()))?;
        certificates.push(certificate);
    }
    match certificates.is_empty() {
        true => Err(wrong("there is no certificate in it")),
        false => Ok(certificates),
    }
}
