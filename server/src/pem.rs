//! Certificates and keys in PEM files.

use leafid_core::{Error, Result};
use std::path::Path;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// `option` names the file in errors: `invalid_argument`.
pub(crate) fn certificates(path: &Path, option: &str) -> Result<Vec<CertificateDer<'static>>> {
    let wrong =
        |what: String| Error::invalid(option, format!("{}: {what}", shown_path(path)), "certificates in PEM");
    let found =
        CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>);
    match found {
        Ok(found) if found.is_empty() => Err(wrong("no certificate in it".to_owned())),
        Ok(found) => Ok(found),
        Err(error) => Err(wrong(error.to_string())),
    }
}

pub(crate) fn private_key(path: &Path, option: &str) -> Result<PrivateKeyDer<'static>> {
    PrivateKeyDer::from_pem_file(path)
        .map_err(|error| Error::invalid(option, format!("{}: {error}", shown_path(path)), "a key in PEM"))
}

/// A path for messages: a key or a certificate that was given in place of its path is not shown.
pub(crate) fn shown_path(path: &Path) -> String {
    leafid_core::options::shown_path(&path.to_string_lossy())
}

/// The authorities of a file.
pub(crate) fn authorities(path: &Path, option: &str) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(path, option)? {
        roots.add(authority).map_err(|error| {
            Error::invalid(
                option,
                format!("{}: {error}", shown_path(path)),
                "certificates of authorities in PEM",
            )
        })?;
    }
    Ok(roots)
}

/// The authorities that this machine trusts. Those that cannot be read are left out, as in other programs.
pub(crate) fn system_roots() -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
}
