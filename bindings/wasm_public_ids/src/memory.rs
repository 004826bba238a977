//! The memory that the module and its host share, and the form of every call: as of `leafid.wasm`, without its numbers
//! and ids.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use leafid_core::{Code, Error, PublicIds, Result, parse_id};
use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};
use zeroize::Zeroize;

/// The version of the exports: docs/WASM-ABI.md.
const ABI_VERSION: i32 = 1;

#[cfg(target_feature = "atomics")]
compile_error!("the module's memory must not be shared: each thread has an instance of its own");

#[global_allocator]
static ALLOCATOR: AssumeSingleThreaded<FreeListAllocator> =
    // SAFETY: an instance without shared memory has one thread.
    unsafe { AssumeSingleThreaded::new(FreeListAllocator::new()) };

/// A defect traps. The host drops the instance.
#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// All that an instance holds.
pub(crate) struct Memory {
    /// Handle N is at N - 1.
    keys: Vec<Option<PublicIds>>,
    input: Vec<u8>,
    output: String,
}

struct Single(UnsafeCell<Memory>);

// SAFETY: an instance without shared memory has one thread.
unsafe impl Sync for Single {}

static MEMORY: Single =
    Single(UnsafeCell::new(Memory { keys: Vec::new(), input: Vec::new(), output: String::new() }));

/// The memory, for one call.
fn with<T>(call: impl FnOnce(&mut Memory) -> T) -> T {
    // SAFETY: there is one thread, and no call contains another one: the module imports no function, and no closure
    // given here calls an export.
    call(unsafe { &mut *MEMORY.0.get() })
}

/// A call that can fail. It returns minus the error's number, and the message as output.
pub(crate) fn call<T: From<i32>>(call: impl FnOnce(&mut Memory) -> Result<T>) -> T {
    with(|memory| {
        call(memory).unwrap_or_else(|error| {
            memory.write(error.message());
            T::from(-error.code().number())
        })
    })
}

impl Memory {
    pub(crate) fn write(&mut self, text: &str) {
        self.output.clear();
        self.output.push_str(text);
    }

    /// A new handle.
    pub(crate) fn add(&mut self, ids: PublicIds) -> i32 {
        let free = self.keys.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.keys.push(None);
            self.keys.len() - 1
        });
        self.keys[at] = Some(ids);
        // There is no memory for 2^31 of them.
        at as i32 + 1
    }

    /// Errors: `closed`.
    pub(crate) fn get(&self, handle: i32) -> Result<&PublicIds> {
        self.keys.get(place(handle)).and_then(Option::as_ref).ok_or_else(|| no_keys(handle))
    }

    /// As [`Memory::get`].
    pub(crate) fn get_mut(&mut self, handle: i32) -> Result<&mut PublicIds> {
        self.keys.get_mut(place(handle)).and_then(Option::as_mut).ok_or_else(|| no_keys(handle))
    }

    /// The parts of the input, one after another. Errors: `invalid_argument` for lengths that the input has not.
    pub(crate) fn input<const N: usize>(&self, lengths: [i32; N]) -> Result<[&[u8]; N]> {
        let mut rest = &self.input[..];
        let mut parts = [rest; N];
        for (part, length) in parts.iter_mut().zip(lengths) {
            let split = usize::try_from(length).ok().and_then(|length| rest.split_at_checked(length));
            (*part, rest) =
                split.ok_or_else(|| Error::invalid("length", length, "0 to what is left of the input"))?;
        }
        Ok(parts)
    }

    /// As [`Memory::input`], for texts in UTF-8.
    pub(crate) fn texts<const N: usize>(&self, lengths: [i32; N]) -> Result<[&str; N]> {
        let mut texts = [""; N];
        for (text, bytes) in texts.iter_mut().zip(self.input(lengths)?) {
            *text = utf8(bytes)?;
        }
        Ok(texts)
    }

    /// Overwrites the input, which was a key.
    pub(crate) fn forget_input(&mut self) {
        self.input.zeroize();
    }
}

fn place(handle: i32) -> usize {
    (handle as usize).wrapping_sub(1)
}

#[cold]
fn no_keys(handle: i32) -> Error {
    Error::new(Code::Closed, alloc::format!("handle {handle} has no keys; it was freed"))
}

pub(crate) fn utf8(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|_| Error::invalid("text", "not UTF-8", "UTF-8"))
}

/// The version of the exports.
#[unsafe(no_mangle)]
extern "C" fn abi_version() -> i32 {
    ABI_VERSION
}

/// Makes room for `length` bytes of input, and returns their address. The next call of `input` ends it.
#[unsafe(no_mangle)]
extern "C" fn input(length: i32) -> i32 {
    with(|memory| {
        memory.input.clear();
        memory.input.resize(length.max(0) as usize, 0);
        memory.input.as_ptr() as i32
    })
}

/// The address of the output.
#[unsafe(no_mangle)]
extern "C" fn output() -> i32 {
    with(|memory| memory.output.as_ptr() as i32)
}

/// The length of the output.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> i32 {
    with(|memory| memory.output.len() as i32)
}

/// Frees a handle, and overwrites its keys. A later call may return its number again.
#[unsafe(no_mangle)]
extern "C" fn free(handle: i32) {
    with(|memory| {
        if let Some(keys) = memory.keys.get_mut(place(handle)) {
            *keys = None;
        }
    });
}

/// The name of the error with this number, as output; 1 if a later try can succeed with nothing changed, else 0.
#[unsafe(no_mangle)]
extern "C" fn error_name(number: i32) -> i32 {
    call(|memory| {
        let code = Code::from_number(number);
        let code = code.ok_or_else(|| Error::invalid("number", number, "the number of an error"))?;
        memory.write(code.name());
        Ok(code.can_retry().into())
    })
}

/// The error for an argument: the input is its name, its value, and what is allowed.
#[unsafe(no_mangle)]
extern "C" fn refuse(name_length: i32, value_length: i32, allowed_length: i32) -> i32 {
    call(|memory| {
        let [name, value, allowed] = memory.texts([name_length, value_length, allowed_length])?;
        Err(Error::invalid(name, value, allowed))
    })
}

/// The id of decimal digits.
#[unsafe(no_mangle)]
extern "C" fn id_parse(length: i32) -> i64 {
    call(|memory| parse_id(memory.texts([length])?[0]))
}
