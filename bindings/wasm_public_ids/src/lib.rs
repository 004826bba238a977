//! Public ids as a WebAssembly module of its own: plain exports of numbers and bytes, and no import.
//!
//! docs/WASM-ABI.md describes every export. On other targets this crate is empty.
#![cfg_attr(target_arch = "wasm32", no_std)]

#[cfg(target_arch = "wasm32")]
extern crate alloc;

#[cfg(target_arch = "wasm32")]
mod keys;
#[cfg(target_arch = "wasm32")]
mod memory;
