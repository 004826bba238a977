//! Public ids: ids encrypted one to one.

use crate::error::thrown;
use crate::id::given_id;
use leafid::{Error, PublicIdKey, PublicIds, Result, TextForm, load_public_id_key};
use napi::bindgen_prelude::{BigInt, Either, Env, External, Uint8Array};
use napi_derive::napi;

/// A key, as bytes or as text that says where it is, and its version.
#[napi(object, object_to_js = false)]
pub struct VersionedKey {
    /// The bytes, or `env:NAME` or `file:PATH`.
    pub key: Either<Uint8Array, String>,
    /// 0 to 31.
    pub version: i64,
}

/// Public ids of these keys. The first one encrypts.
#[napi(catch_unwind)]
pub fn public_ids(env: &Env, keys: Vec<VersionedKey>) -> napi::Result<External<PublicIds>> {
    made(&keys).map(External::new).map_err(|error| thrown(env, &error))
}

/// The version of the key that encrypts.
#[napi(catch_unwind)]
pub fn public_ids_version(ids: &External<PublicIds>) -> u32 {
    ids.version()
}

/// The number that stands for an id.
#[napi(catch_unwind)]
pub fn encrypt_id(env: &Env, ids: &External<PublicIds>, id: Either<BigInt, String>) -> napi::Result<u64> {
    let public_id = given_id(id).and_then(|id| ids.encrypt(id));
    // It is never negative, so it keeps its value.
    public_id.map(|id| id as u64).map_err(|error| thrown(env, &error))
}

/// The id of a number.
#[napi(catch_unwind)]
pub fn decrypt_id(
    env: &Env,
    ids: &External<PublicIds>,
    public_id: Either<BigInt, String>,
    version: i64,
) -> napi::Result<u64> {
    let id = given_id(public_id).and_then(|public_id| ids.decrypt(public_id, given_version(version)?));
    id.map(|id| id as u64).map_err(|error| thrown(env, &error))
}

/// The text that stands for an id.
#[napi(catch_unwind)]
pub fn format_public_id(
    env: &Env,
    ids: &External<PublicIds>,
    id: Either<BigInt, String>,
    form: String,
) -> napi::Result<String> {
    let text = TextForm::parse(&form).and_then(|form| ids.format_id(given_id(id)?, form));
    text.map_err(|error| thrown(env, &error))
}

/// The id of a text.
#[napi(catch_unwind)]
pub fn parse_public_id(
    env: &Env,
    ids: &External<PublicIds>,
    text: String,
    form: String,
) -> napi::Result<u64> {
    let id = TextForm::parse(&form).and_then(|form| ids.parse_id(&text, form));
    id.map(|id| id as u64).map_err(|error| thrown(env, &error))
}

fn made(keys: &[VersionedKey]) -> Result<PublicIds> {
    let [first, others @ ..] = keys else {
        return Err(Error::invalid("keys", "empty", "at least one key"));
    };
    let mut ids = PublicIds::new(read(first)?, given_version(first.version)?)?;
    for other in others {
        ids.add_key(read(other)?, given_version(other.version)?)?;
    }
    Ok(ids)
}

fn read(given: &VersionedKey) -> Result<PublicIdKey> {
    match &given.key {
        Either::A(bytes) => PublicIdKey::new(bytes),
        Either::B(source) => load_public_id_key(source),
    }
}

/// Checks a number that may not fit the host's type. The host checks the rest.
fn given_version(version: i64) -> Result<u32> {
    u32::try_from(version).map_err(|_| Error::invalid("version", version, "0 to 31"))
}
