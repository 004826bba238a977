//! The core of leafid as a WebAssembly module: plain exports of numbers and bytes, and no import.
//!
//! docs/WASM-ABI.md describes every export. On other targets this crate is empty.
#![cfg_attr(target_arch = "wasm32", no_std)]

#[cfg(target_arch = "wasm32")]
extern crate alloc;

#[cfg(all(target_arch = "wasm32", feature = "record"))]
mod clock;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod fetch;
#[cfg(all(target_arch = "wasm32", feature = "format"))]
mod format;
#[cfg(target_arch = "wasm32")]
mod layout;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod lease;
#[cfg(all(target_arch = "wasm32", feature = "format", feature = "wire"))]
mod lease_file;
#[cfg(target_arch = "wasm32")]
mod machine;
#[cfg(all(target_arch = "wasm32", feature = "format", feature = "wire"))]
mod mark;
#[cfg(target_arch = "wasm32")]
mod module;
#[cfg(all(target_arch = "wasm32", feature = "record"))]
mod record;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod segment;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod servers;
#[cfg(target_arch = "wasm32")]
mod snowflake;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod source;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod start;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod text_form;
#[cfg(all(target_arch = "wasm32", feature = "wire"))]
mod wire;
