//! The C interface as a sequence of calls with whatever C allows: NULL, closed handles, wrong sizes, no room, huge counts,
//! and callbacks that answer anything. No id comes twice, and what was given to the library is given back once.
#![no_main]

use leafid_fuzz::Input;
use leafid_fuzz::c::Program;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| Program::run(Input::new(data)));
