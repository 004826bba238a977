//! The core of leafid as WebAssembly modules: plain exports of numbers and bytes, and no import.
//!
//! docs/WASM-ABI.md describes every export, with its numbers. The features are what a module has. On other targets this crate is empty.
#![cfg(target_arch = "wasm32")]
#![no_std]

extern crate alloc;

#[cfg(not(any(feature = "public-ids", feature = "snowflake")))]
compile_error!("a module has snowflakes or public ids: bindings/wasm/wasm.mk lists the features of each");

mod argument;
#[cfg(feature = "wire")]
mod drive;
#[cfg(feature = "granted")]
mod granted;
#[cfg(feature = "wire")]
mod host_call;
#[cfg(feature = "snowflake")]
mod ids;
#[cfg(feature = "snowflake")]
mod layout;
#[cfg(feature = "segments")]
mod marks;
mod module;
#[cfg(feature = "public-ids")]
mod public_ids;
#[cfg(feature = "wire")]
mod run;
#[cfg(feature = "wire")]
mod run_wait;
#[cfg(feature = "snowflake")]
mod snowflake;
#[cfg(feature = "segments")]
mod supply;
#[cfg(feature = "segments")]
mod supply_handle;
mod text_form;
