//! The setters that both builders have, written once.

/// The setters of options that snowflakes and segments share, and those for bindings; inside of `impl` of a builder.
macro_rules! shared_setters {
    () => {
        /// The id space. Default "default".
        ///
        /// Worker ids, and the ranges of a tag, are unique within it, and two id spaces can make the same id: give one
        /// name to all programs that write into one column; two databases or two clusters of a source need two. It has
        /// its own sub-directory of `state_dir`.
        pub fn name(self, name: impl Into<String>) -> Self {
            self.set("name", OptionValue::Text(name.into()))
        }

        /// The directory of what is stored: the records of worker ids, or for each tag the end of the ranges given.
        /// Created if missing.
        ///
        /// Default: `LEAFID_STATE_DIR`, systemd's `STATE_DIRECTORY`, `/var/lib/leafid` if writable, else the user's own
        /// state directory.
        pub fn state_dir(self, dir: impl Into<PathBuf>) -> Self {
            self.set_path("state_dir", dir.into())
        }

        /// The longest wait of a call for its next id, in milliseconds, 1 to 3,600,000. Default 2000.
        ///
        /// A `take` that makes progress may last longer.
        pub fn timeout_ms(self, ms: i64) -> Self {
            self.set("timeout_ms", OptionValue::Int(ms))
        }

        /// Whether anything is stored for the next start. Default `true`.
        ///
        /// With `false`, a snowflake whose clock is behind its last id at a start repeats ids; it is refused with a
        /// range of worker ids, and without a lease ids then never run ahead of the clock. Of segments only this
        /// process notices a source that repeats itself. `state_dir` is not used.
        pub fn persist(self, persist: bool) -> Self {
            self.set("persist", OptionValue::Flag(persist))
        }

        /// Whether `state_dir`, and `file:DIR` of segments, may be on a network file system. Default `false`. Its locks
        /// must work between all hosts that use it.
        pub fn shared_fs(self, shared_fs: bool) -> Self {
            self.set("shared_fs", OptionValue::Flag(shared_fs))
        }

        /// Whether the members of one group share `state_dir`, and `file:DIR` of segments. Default
        /// `LEAFID_SHARED_GROUP`, else `false`.
        ///
        /// `true`: files get mode 0660 whatever the umask, directories 2770; files with secrets stay 0600. `false`: 0640
        /// and 0750 less the umask.
        pub fn shared_group(self, shared_group: bool) -> Self {
            self.set("shared_group", OptionValue::Flag(shared_group))
        }

        /// Sent to servers as `Authorization: Bearer …`, or to tinyid as its own `token`. Default `LEAFID_TOKEN`, else
        /// the text of the file `LEAFID_TOKEN_FILE`, else none. A snowflake refuses this and the next four options unless
        /// `worker` is a URL.
        pub fn token(self, token: impl Into<String>) -> Self {
            self.set("token", OptionValue::Text(token.into()))
        }

        /// More headers that are sent to servers. Default none.
        pub fn headers<K: Into<String>, V: Into<String>>(
            self,
            headers: impl IntoIterator<Item = (K, V)>,
        ) -> Self {
            let headers = headers.into_iter().map(|(name, value)| (name.into(), value.into()));
            self.set("headers", OptionValue::Headers(headers.collect()))
        }

        /// A PEM file of certificate authorities for servers, in addition to those of the system. Default
        /// `LEAFID_CA_FILE`, else none.
        pub fn ca_file(self, path: impl Into<PathBuf>) -> Self {
            self.set_path("ca_file", path.into())
        }

        /// The longest duration of a request, a claim, a renewal or a release over all servers, in milliseconds, 1 to
        /// 3,600,000. Default 1000.
        pub fn request_timeout_ms(self, ms: i64) -> Self {
            self.set("request_timeout_ms", OptionValue::Int(ms))
        }

        /// The longest duration of a connection to a server, with name look-up and TLS, in milliseconds, 1 to
        /// 3,600,000. Default 300.
        pub fn connect_timeout_ms(self, ms: i64) -> Self {
            self.set("connect_timeout_ms", OptionValue::Int(ms))
        }

        /// For event loops: a longer wait than this number of milliseconds returns `would_block`.
        #[doc(hidden)]
        pub fn max_wait_ms(mut self, ms: i64) -> Self {
            self.options.max_wait_ms = Some(ms);
            self
        }

        /// For bindings: sets an option by its name. Errors: `invalid_argument` for an unknown one, and for a value of
        /// another kind.
        #[doc(hidden)]
        pub fn set_value(&mut self, name: &str, value: OptionValue) -> Result<()> {
            self.options.set(name, value)
        }

        /// As `set_value`, for a path that may be no text.
        #[doc(hidden)]
        pub fn set_path_value(&mut self, name: &str, path: PathBuf) -> Result<()> {
            self.options.set_path(name, path)
        }

        /// A value of the kind that the option has.
        fn set(mut self, name: &str, value: OptionValue) -> Self {
            let set = self.options.set(name, value);
            debug_assert!(set.is_ok(), "{set:?}");
            self
        }

        fn set_path(mut self, name: &str, path: PathBuf) -> Self {
            let set = self.options.set_path(name, path);
            debug_assert!(set.is_ok(), "{set:?}");
            self
        }
    };
}

pub(crate) use shared_setters;
