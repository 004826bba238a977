//! Addresses as Java's drivers take them, and so as a Leaf has them: `jdbc:mysql://HOST:PORT/DATABASE?user=…`.
//!
//! What a driver of Java does by itself is no matter here and is left out, such as `useUnicode` and `autoReconnect`. What
//! decides who reads the packets is kept, or refused.

use leafid_core::options::{ENCODED, has_raw_password, shown_url};
use leafid_core::{Error, Result};

const ALLOWED: &str = "jdbc:mysql://HOST:PORT/DATABASE, jdbc:mariadb://… or jdbc:postgresql://…, of one host";

/// The same address in the words of this program. `jdbc`: what follows `jdbc:`. Errors: `invalid_argument`, which show no
/// secret.
pub(super) fn translated(jdbc: &str) -> Result<String> {
    let wrong = |what: &str| Error::invalid("store", format!("jdbc:{}{what}", shown_url(jdbc)), ALLOWED);
    if has_raw_password(jdbc) {
        let value = format!("jdbc:{}, whose password is not encoded", shown_url(jdbc));
        return Err(Error::invalid("store", value, &format!("{ALLOWED}; {ENCODED}")));
    }
    let (scheme, rest) = jdbc.split_once("://").ok_or_else(|| wrong(""))?;
    let is_postgres = match scheme {
        "mysql" | "mariadb" => false,
        "postgresql" => true,
        _ => return Err(wrong("")),
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (user, host) = authority.rsplit_once('@').map_or(("", authority), |(user, host)| (user, host));
    if host.contains([',', '(', ')', '=']) {
        return Err(wrong(", which names several hosts"));
    }
    let mut address = JdbcAddress { is_postgres, user: None, password: None, words: Vec::new() };
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        address.read(&name, &value)?;
    }
    let user = match address.user.take() {
        None if user.is_empty() => String::new(),
        None => format!("{user}@"),
        Some(user) => {
            let password =
                address.password.take().map_or(String::new(), |word| format!(":{}", encoded(&word)));
            format!("{}{password}@", encoded(&user))
        }
    };
    let host = if host.is_empty() { "localhost" } else { host };
    let scheme = if is_postgres { "postgres" } else { "mysql" };
    let words = form_urlencoded::Serializer::new(String::new()).extend_pairs(address.words).finish();
    let query = if words.is_empty() { words } else { format!("?{words}") };
    Ok(format!("{scheme}://{user}{host}{path}{query}"))
}

struct JdbcAddress {
    is_postgres: bool,
    user: Option<String>,
    password: Option<String>,
    words: Vec<(&'static str, String)>,
}

impl JdbcAddress {
    /// A later word goes before an earlier one.
    fn read(&mut self, name: &str, value: &str) -> Result<()> {
        let is_true = value.eq_ignore_ascii_case("true");
        match (name, self.is_postgres) {
            ("user", _) => self.user = Some(value.to_owned()),
            ("password", _) => self.password = Some(value.to_owned()),
            ("useSSL", false) => self.tls(if is_true { "required" } else { "disabled" }),
            ("requireSSL", false) if is_true => self.tls("required"),
            ("verifyServerCertificate", false) if is_true => self.tls("verify_ca"),
            ("sslMode", false) => {
                let mode = value.to_ascii_lowercase().replace('-', "_");
                // The words of MariaDB's driver.
                let mode = match mode.as_str() {
                    "disable" => "disabled",
                    "trust" => "required",
                    "verify_full" => "verify_identity",
                    mode => mode,
                };
                self.tls(mode);
            }
            ("ssl", true) if is_true => self.tls("verify-full"),
            ("sslmode", true) => self.tls(value),
            ("sslrootcert", true) => self.set("sslrootcert", value),
            ("currentSchema", true) => self.set("options[search_path]", value),
            (
                "trustCertificateKeyStoreUrl"
                | "clientCertificateKeyStoreUrl"
                | "trustStore"
                | "keyStore"
                | "sslfactory"
                | "sslcert"
                | "sslkey",
                _,
            ) => {
                let allowed = "an address of this program, with ?ssl-ca=FILE or ?sslrootcert=FILE in PEM: leafid help server";
                return Err(Error::invalid("store", format!("{name}, which is Java's"), allowed));
            }
            _ => {}
        }
        Ok(())
    }

    fn tls(&mut self, mode: &str) {
        self.set(if self.is_postgres { "sslmode" } else { "ssl-mode" }, mode);
    }

    fn set(&mut self, name: &'static str, value: &str) {
        self.words.retain(|(known, _)| *known != name);
        self.words.push((name, value.to_owned()));
    }
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_java_s_drivers_become_ours() {
        for (jdbc, address) in [
            (
                "mysql://db:3306/leaf?useUnicode=true&characterEncoding=utf8&useSSL=false&user=leaf&password=a%40b+c",
                "mysql://leaf:a%40b%20c@db:3306/leaf?ssl-mode=disabled",
            ),
            ("mysql://db/leaf", "mysql://db/leaf"),
            ("mysql:///leaf", "mysql://localhost/leaf"),
            (
                "mariadb://leaf:x@[::1]:3306/leaf?sslMode=verify-full",
                "mysql://leaf:x@[::1]:3306/leaf?ssl-mode=verify_identity",
            ),
            (
                "mysql://db/leaf?useSSL=true&verifyServerCertificate=true",
                "mysql://db/leaf?ssl-mode=verify_ca",
            ),
            ("mysql://db/leaf?user=a&user=b&password=", "mysql://b:@db/leaf"),
            (
                "postgresql://db:5432/leaf?user=leaf&ssl=true&currentSchema=ids&prepareThreshold=0",
                "postgres://leaf@db:5432/leaf?sslmode=verify-full&options%5Bsearch_path%5D=ids",
            ),
        ] {
            assert_eq!(translated(jdbc).as_deref(), Ok(address), "{jdbc}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_its_password() {
        for (jdbc, said) in [
            (
                "mysql:replication://a,b/leaf?user=leaf&password=s3cret",
                "store is jdbc:mysql:replication://a,b/leaf?user=…; allowed",
            ),
            ("mysql://a:1,b:2/leaf?user=leaf&password=s3cret", "which names several hosts"),
            ("oracle:thin:leaf/s3cret@db", "whose password is not encoded"),
            ("mysql://leaf:s3/cret@db/leaf", "whose password is not encoded"),
            ("mysql://db/leaf?user=a&password=s3@cret", "whose password is not encoded"),
            (
                "mysql://db/leaf?trustCertificateKeyStoreUrl=file:/s3cret",
                "store is trustCertificateKeyStoreUrl, which is Java's",
            ),
        ] {
            let error = translated(jdbc).unwrap_err().to_string();
            assert!(error.contains(said) && !error.contains("cret"), "{jdbc}: {error}");
        }
    }
}
