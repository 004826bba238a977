//! TLS: the server's certificate, and which clients' certificates it takes.

use crate::options::Options;
use crate::pem::{authorities, certificates, private_key, shown_path};
use leafid_core::{Error, Result};
use parking_lot::RwLock;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::server::WebPkiClientVerifier;

/// What connections are encrypted with. The files can be read again.
pub(crate) struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    client_ca: Option<PathBuf>,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the files of the options; `None` if there are none. Errors: `invalid_argument`.
    pub(crate) fn load(options: &Options) -> Result<Option<Tls>> {
        let (certificate, key) = match (&options.tls_cert, &options.tls_key) {
            (Some(certificate), Some(key)) => (certificate.clone(), key.clone()),
            (None, None) if options.tls_client_ca.is_none() => return Ok(None),
            (None, _) => return Err(Error::invalid("tls-cert", "missing", "a file, together with tls-key")),
            (_, None) => return Err(Error::invalid("tls-key", "missing", "a file, together with tls-cert")),
        };
        let client_ca = options.tls_client_ca.clone();
        let current = RwLock::new(read(&certificate, &key, client_ca.as_deref())?);
        Ok(Some(Tls { certificate, key, client_ca, current }))
    }

    /// Reads the files again, for connections from now on. After an error all is as before.
    pub(crate) fn reload(&self) -> Result<()> {
        *self.current.write() = read(&self.certificate, &self.key, self.client_ca.as_deref())?;
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.read().clone())
    }
}

fn read(certificate: &Path, key: &Path, client_ca: Option<&Path>) -> Result<Arc<ServerConfig>> {
    let chain = certificates(certificate, "tls-cert")?;
    let private = private_key(key, "tls-key")?;
    let provider = Arc::new(default_provider());
    let wrong = |option: &str, path: &Path, error: &dyn std::fmt::Display| {
        Error::invalid(option, format!("{}: {error}", shown_path(path)), "a certificate and its key in PEM")
    };
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong("tls-cert", certificate, &error))?;
    let builder = match client_ca {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let roots = Arc::new(authorities(path, "tls-client-ca")?);
            let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
            builder.with_client_cert_verifier(verifier.map_err(|error| wrong("tls-client-ca", path, &error))?)
        }
    };
    let mut config =
        builder.with_single_cert(chain, private).map_err(|error| wrong("tls-cert", certificate, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
