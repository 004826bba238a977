//! Responses of lease servers, for the fuzz targets.

#![allow(missing_docs)]

use super::lease_protocol;
use crate::http::Response;
use leafid_core::{Code, Lease, Renewal, Result};

pub fn claimed(status: u16, body: &[u8], instance: &str) -> Result<Lease> {
    lease_protocol::claimed(&Response::of(status, body), instance)
}

pub fn renewed(status: u16, body: &[u8], nonce: &str) -> Result<Renewal> {
    lease_protocol::renewed(&Response::of(status, body), nonce)
}

pub fn refusal(status: u16, body: &[u8]) -> Option<(Code, String)> {
    lease_protocol::refusal(&Response::of(status, body))
}
