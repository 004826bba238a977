//! The options that several commands share, with the library's names.

use crate::worker::settings::SnowflakeSettings;
use crate::{Layout, Result, Snowflake, SnowflakeBuilder, TextForm, parse_id};
use clap::Args;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct Bits {
    /// Layout of the ids: a preset's name (leaf, uid-generator, yitter, sonyflake, js-safe), or bits of time, worker
    /// and sequence such as "41|10|12"
    #[arg(long, value_name = "TEXT", default_value_t, hide_default_value = true)]
    layout: Layout,
    /// The layout's epoch, Unix milliseconds [default: the layout's own]
    #[arg(long, value_name = "N")]
    epoch_ms: Option<i64>,
}

impl Bits {
    pub(super) fn layout(&self) -> Result<Layout> {
        match self.epoch_ms {
            Some(epoch_ms) => self.layout.with_epoch_ms(epoch_ms),
            None => Ok(self.layout),
        }
    }
}

#[derive(Args)]
pub(super) struct Form {
    /// How ids are written: decimal, base32 (Crockford's, 13 characters), base62 (11) or uuid (version 8) [default: decimal]
    #[arg(long, value_name = "FORM", value_parser = TextForm::parse)]
    form: Option<TextForm>,
}

impl Form {
    pub(super) fn format_id(&self, id: i64) -> Result<String> {
        self.form.unwrap_or(TextForm::Decimal).format_id(id)
    }

    /// Without a form, decimal digits may have leading zeros.
    pub(super) fn parse_id(&self, text: &str) -> Result<i64> {
        self.form.map_or_else(|| parse_id(text), |form| form.parse_id(text))
    }
}

#[derive(Args)]
pub(super) struct Space {
    /// The id space [default: default]
    #[arg(long)]
    pub(super) name: Option<String>,
    /// The directory of the records [default: LEAFID_STATE_DIR, STATE_DIRECTORY, /var/lib/leafid, the user's own]
    #[arg(long, value_name = "DIR")]
    pub(super) state_dir: Option<PathBuf>,
}

#[derive(Args)]
pub(super) struct ClaimOptions {
    /// The worker id, a range such as 0-31, or "hostname:NAME" [default: LEAFID_WORKER]
    #[arg(long, value_name = "W")]
    worker: Option<String>,
    /// The state directory may be on a network: its locks work between all hosts that use it
    #[arg(long)]
    pub(super) shared_fs: bool,
    /// No other container or host was given this range, or all that were share the state directory
    #[arg(long)]
    exclusive_range: bool,
    /// How long a start without a record waits for its first id, milliseconds [default: LEAFID_NO_RECORD_WAIT_MS, else
    /// 0]
    #[arg(long, value_name = "N")]
    no_record_wait_ms: Option<i64>,
}

impl ClaimOptions {
    pub(super) fn on(&self, builder: SnowflakeBuilder) -> SnowflakeBuilder {
        let mut builder = builder.shared_fs(self.shared_fs);
        if self.exclusive_range {
            builder = builder.exclusive_range(true);
        }
        if let Some(ms) = self.no_record_wait_ms {
            builder = builder.no_record_wait_ms(ms);
        }
        match &self.worker {
            Some(worker) => builder.worker(worker.as_str()),
            None => builder,
        }
    }

    /// Whether a worker id was requested at all.
    pub(super) fn is_given(&self) -> bool {
        self.worker.is_some() || std::env::var_os("LEAFID_WORKER").is_some()
    }
}

impl Space {
    pub(super) fn builder(&self) -> SnowflakeBuilder {
        let mut builder = Snowflake::builder();
        if let Some(name) = &self.name {
            builder = builder.name(name);
        }
        if let Some(dir) = &self.state_dir {
            builder = builder.state_dir(dir);
        }
        builder
    }

    /// The settings of the id space, for commands without a worker id.
    pub(super) fn settings(&self) -> Result<SnowflakeSettings> {
        SnowflakeSettings::parse(&self.builder().worker(0).options)
    }
}
