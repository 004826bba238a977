//! `leafid encrypt` and `leafid decrypt`: public ids.

use super::streams::{Outcome, Streams};
use crate::{PublicIds, Result, TextForm, load_public_id_key, parse_id};
use clap::Args;

/// Encrypt ids to numbers, or texts, that tell nobody how many there are
#[derive(Args)]
pub(super) struct EncryptArguments {
    /// Ids in decimal digits, 1 to 9223372036854775807
    #[arg(value_name = "ID", required = true, allow_negative_numbers = true)]
    ids: Vec<String>,
    #[command(flatten)]
    key: KeyOptions,
}

/// Decrypt what `leafid encrypt` printed, with the same key, version and form
#[derive(Args)]
pub(super) struct DecryptArguments {
    /// Numbers, or texts of the form
    #[arg(value_name = "PUBLIC_ID", required = true, allow_negative_numbers = true)]
    public_ids: Vec<String>,
    #[command(flatten)]
    key: KeyOptions,
}

#[derive(Args)]
struct KeyOptions {
    /// Where the key is: env:NAME or file:PATH, with 32, 48 or 64 hexadecimal digits, as of `openssl rand -hex 16`
    #[arg(long, value_name = "SOURCE")]
    key: String,
    /// The version of the key, 0 to 31
    #[arg(long, value_name = "VERSION")]
    key_version: u32,
    /// As text, which begins with the version: base32 (14 characters) or base62 (12) [default: numbers]
    #[arg(long, value_name = "FORM", value_parser = TextForm::parse)]
    form: Option<TextForm>,
}

impl KeyOptions {
    fn load(&self) -> Result<PublicIds> {
        PublicIds::new(load_public_id_key(&self.key)?, self.key_version)
    }
}

pub(super) fn encrypt(arguments: &EncryptArguments, streams: &mut Streams<'_>) -> Outcome {
    let ids = arguments.key.load()?;
    each(&arguments.ids, streams, |text| match arguments.key.form {
        Some(form) => ids.format_id(parse_id(text)?, form),
        None => ids.encrypt(parse_id(text)?).map(|public_id| public_id.to_string()),
    })
}

pub(super) fn decrypt(arguments: &DecryptArguments, streams: &mut Streams<'_>) -> Outcome {
    let ids = arguments.key.load()?;
    each(&arguments.public_ids, streams, |text| {
        let id = match arguments.key.form {
            Some(form) => ids.parse_id(text, form),
            None => ids.decrypt(parse_id(text)?, ids.version()),
        };
        id.map(|id| id.to_string())
    })
}

fn each(texts: &[String], streams: &mut Streams<'_>, line: impl Fn(&str) -> Result<String>) -> Outcome {
    let mut all = true;
    for text in texts {
        match line(text) {
            Ok(line) => writeln!(streams.stdout, "{line}")?,
            Err(error) => {
                all = false;
                streams.complain(error);
            }
        }
    }
    Ok(all)
}
