//! Tests of what is refused of `ca_file`. All else the core checks: core/tests/option_rules.rs.

use super::fake_server::options;
use crate::http::ServerPool;
use leafid_core::Code;

#[test]
fn a_ca_file_that_is_missing_or_has_no_certificate() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("ca.pem");
    let missing = format!("ca_file is {path:?}: ");
    for (text, said) in [
        (None, missing.as_str()),
        (Some(""), "there is no certificate in it"),
        (Some("-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n"), "PEM file of certificates"),
        (Some("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), "PEM file of certificates"),
        (Some("-----BEGIN CERTIFICATE-----\nAAAA\n"), "PEM file of certificates"),
    ] {
        text.into_iter().for_each(|text| std::fs::write(&path, text).unwrap());
        let mut options = options(&["http://127.0.0.1:1".into()]);
        options.ca_file = Some(path.clone());
        let error = ServerPool::new(options).err().unwrap();
        assert_eq!(error.code(), Code::InvalidArgument, "{text:?}");
        assert!(error.message().contains(said), "{text:?}: {error}");
    }
}
