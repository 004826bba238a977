//! The memory that the module and its host share, and the form of every call.

use alloc::boxed::Box;
#[cfg(feature = "snowflake")]
use alloc::sync::Arc;
use alloc::vec::Vec;
#[cfg(feature = "wire")]
use alloc::{
    collections::VecDeque,
    string::{String, ToString},
};
use core::any::Any;
use core::cell::UnsafeCell;
#[cfg(feature = "snowflake")]
use leafid_core::Snowflake;
#[cfg(feature = "wire")]
use leafid_core::{ClockFilter, call::Clocks, run::ProcessLeases};
use leafid_core::{Code, Error};
use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};

/// The version of the exports: docs/WASM-ABI.md.
const ABI_VERSION: i32 = 2;
/// How many numbers an answer has at most.
#[cfg(feature = "snowflake")]
const MOST_NUMBERS: usize = 16;

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

/// All that an instance holds, apart from ids and output.
pub(crate) struct Module {
    /// Handle N is at N - 1.
    machines: Vec<Option<Machine>>,
    input: Vec<u8>,
    #[cfg(feature = "snowflake")]
    numbers: [f64; MOST_NUMBERS],
    /// The filter of the clock's leaps, of all machines; made at its first use.
    #[cfg(feature = "wire")]
    clock: Option<Arc<ClockFilter>>,
    /// What is to be logged; the next machine that is asked for a notice tells it.
    #[cfg(feature = "wire")]
    pub(crate) warnings: VecDeque<String>,
    /// Of all runs.
    #[cfg(feature = "wire")]
    pub(crate) leases: ProcessLeases,
    /// How many machines have calls. Their numbers are used once, other than handles.
    #[cfg(feature = "wire")]
    callers: u64,
}

/// What a handle stands for.
pub(crate) enum Machine {
    /// On the way of each id: to look into a box of any type takes half as long again.
    #[cfg(feature = "snowflake")]
    Snowflake(Arc<Snowflake>),
    Other(Box<dyn Any>),
}

/// A type that handles stand for.
pub(crate) trait Kind: Any + Sized {
    /// The name, for messages.
    const NAME: &'static str;

    fn into_machine(self) -> Machine {
        Machine::Other(Box::new(self))
    }

    fn of(machine: &Machine) -> Option<&Self> {
        match machine {
            Machine::Other(found) => found.downcast_ref(),
            #[cfg(feature = "snowflake")]
            Machine::Snowflake(_) => None,
        }
    }
}

#[cfg(feature = "snowflake")]
impl Kind for Arc<Snowflake> {
    const NAME: &'static str = "a snowflake";

    fn into_machine(self) -> Machine {
        Machine::Snowflake(self)
    }

    #[inline(always)]
    fn of(machine: &Machine) -> Option<&Self> {
        match machine {
            Machine::Snowflake(found) => Some(found),
            Machine::Other(_) => None,
        }
    }
}

/// What an instance has once.
pub(crate) struct Single<T>(UnsafeCell<T>);

impl<T> Single<T> {
    pub(crate) const fn new(value: T) -> Single<T> {
        Single(UnsafeCell::new(value))
    }

    pub(crate) const fn get(&self) -> *mut T {
        self.0.get()
    }
}

// SAFETY: an instance without shared memory has one thread.
unsafe impl<T> Sync for Single<T> {}

static MODULE: Single<Module> = Single::new(Module {
    machines: Vec::new(),
    input: Vec::new(),
    #[cfg(feature = "snowflake")]
    numbers: [0.0; MOST_NUMBERS],
    #[cfg(feature = "wire")]
    clock: None,
    #[cfg(feature = "wire")]
    warnings: VecDeque::new(),
    #[cfg(feature = "wire")]
    leases: ProcessLeases::new(),
    #[cfg(feature = "wire")]
    callers: 0,
});

/// Apart from the rest, so that an error can be stored while its cause is borrowed.
static OUTPUT: Single<CallOutput> = Single::new(CallOutput { bytes: Vec::new(), failure: 0 });

/// What a call returns besides numbers.
struct CallOutput {
    bytes: Vec<u8>,
    /// The result of a call that failed.
    failure: i32,
}

/// The call failed. Its error is stored: the message is the output.
///
/// It has no size, so that a reference or this is one number, and no export has to free an error.
pub(crate) struct CallFailed(());

/// The result of a part of a call.
pub(crate) type Result<T> = core::result::Result<T, CallFailed>;

impl From<Error> for CallFailed {
    #[cold]
    #[inline(never)]
    fn from(error: Error) -> CallFailed {
        write(&[error.message()]);
        with_output(|output| output.failure = -error.code().number());
        CallFailed(())
    }
}

/// The output, for a part of a call.
fn with_output<T>(part: impl FnOnce(&mut CallOutput) -> T) -> T {
    // SAFETY: there is one thread, and only closures of this file see it; none of them contains another.
    part(unsafe { &mut *OUTPUT.get() })
}

/// Replaces the output by these texts.
#[inline(never)]
pub(crate) fn write(texts: &[&str]) {
    with_output(|output| {
        output.bytes.clear();
        texts.iter().for_each(|text| output.bytes.extend_from_slice(text.as_bytes()));
    });
}

/// As [`write`], for bytes.
#[cfg(feature = "wire")]
pub(crate) fn write_bytes(bytes: &[u8]) {
    with_output(|output| {
        output.bytes.clear();
        output.bytes.extend_from_slice(bytes);
    });
}

/// Replaces the output by a list: each text after its length, a u32; 2^32-1 for one that is not given.
#[cfg(feature = "wire")]
pub(crate) fn write_list<'t>(texts: impl Iterator<Item = Option<&'t [u8]>>) {
    with_output(|output| {
        output.bytes.clear();
        for text in texts {
            output.bytes.extend(text.map_or(u32::MAX, |text| text.len() as u32).to_le_bytes());
            output.bytes.extend(text.unwrap_or_default());
        }
    });
}

/// The module, for one call.
#[inline(always)]
pub(crate) fn with<T>(call: impl FnOnce(&mut Module) -> T) -> T {
    // SAFETY: there is one thread, and no call of the module contains another one: it imports no function, and no
    // closure given here calls an export.
    call(unsafe { &mut *MODULE.get() })
}

/// A call that can fail. It returns minus the error's number, and the message as output: negative numbers are errors and
/// actions.
pub(crate) fn call<T: From<i32>>(call: impl FnOnce(&mut Module) -> Result<T>) -> T {
    with(|module| call(module).unwrap_or_else(|failed| failed.returned()))
}

/// Exports whose bodies are those of [`call`]: the first argument is the module.
macro_rules! exports {
    ($(
        $(#[$about:meta])*
        fn $name:ident($module:pat $(, $argument:ident: $type:ty)* $(,)?) -> $returns:ty $body:block
    )+) => {
        $(
            $(#[$about])*
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> $returns {
                $crate::module::call(|$module| $body)
            }
        )+
    };
}
pub(crate) use exports;

impl CallFailed {
    /// What the export returns: minus the error's number.
    pub(crate) fn returned<T: From<i32>>(self) -> T {
        T::from(with_output(|output| output.failure))
    }
}

impl Module {
    /// A new handle.
    pub(crate) fn add(&mut self, value: impl Kind) -> i32 {
        self.add_machine(value.into_machine())
    }

    #[inline(never)]
    fn add_machine(&mut self, machine: Machine) -> i32 {
        let free = self.machines.iter().position(Option::is_none);
        let at = free.unwrap_or_else(|| {
            self.machines.push(None);
            self.machines.len() - 1
        });
        self.machines[at] = Some(machine);
        // There is no memory for 2^31 of them.
        at as i32 + 1
    }

    #[inline(always)]
    pub(crate) fn find<T: Kind>(&self, handle: i32) -> Option<&T> {
        T::of(self.machines.get((handle as usize).wrapping_sub(1))?.as_ref()?)
    }

    /// The object of a handle. Errors: `closed` for a handle that is none of this kind.
    #[inline(never)]
    pub(crate) fn get<T: Kind>(&self, handle: i32) -> Result<&T> {
        match self.find(handle) {
            Some(found) => Ok(found),
            None => Err(no_handle(handle, T::NAME)),
        }
    }

    /// As [`Module::get`].
    #[cfg(any(feature = "public-ids", feature = "wire"))]
    #[inline(never)]
    pub(crate) fn get_mut<T: Kind>(&mut self, handle: i32) -> Result<&mut T> {
        match self.machines.get_mut((handle as usize).wrapping_sub(1)) {
            Some(Some(Machine::Other(found))) => {
                found.downcast_mut().ok_or_else(|| no_handle(handle, T::NAME))
            }
            _ => Err(no_handle(handle, T::NAME)),
        }
    }

    /// The number of a new machine that has calls.
    #[cfg(feature = "wire")]
    pub(crate) fn next_number(&mut self) -> u64 {
        self.callers += 1;
        self.callers
    }

    /// The handle of what is so.
    #[cfg(feature = "wire")]
    pub(crate) fn handle_of<T: Kind>(&self, is_so: impl Fn(&T) -> bool) -> Option<i32> {
        let is_it = |machine: &Option<Machine>| machine.as_ref().and_then(T::of).is_some_and(&is_so);
        self.machines.iter().position(is_it).map(|at| at as i32 + 1)
    }

    /// All of a kind.
    #[cfg(feature = "wire")]
    pub(crate) fn all<T: Kind>(&self) -> impl Iterator<Item = &T> {
        self.machines.iter().flatten().filter_map(T::of)
    }

    /// As [`Module::get`]; it is freed.
    #[cfg(feature = "wire")]
    pub(crate) fn take<T: Kind>(&mut self, handle: i32) -> Result<T> {
        let slot = self.machines.get_mut((handle as usize).wrapping_sub(1));
        match slot.and_then(|slot| slot.take_if(|machine| T::of(machine).is_some())) {
            Some(Machine::Other(found)) => {
                found.downcast().map(|found| *found).map_err(|_| no_handle(handle, T::NAME))
            }
            _ => Err(no_handle(handle, T::NAME)),
        }
    }

    pub(crate) fn free(&mut self, handle: i32) {
        if let Some(machine) = self.machines.get_mut((handle as usize).wrapping_sub(1)) {
            *machine = None;
        }
    }

    /// The filter of the clock's leaps.
    #[cfg(feature = "wire")]
    pub(crate) fn clock(&mut self) -> &Arc<ClockFilter> {
        self.clock.get_or_insert_with(|| Arc::new(ClockFilter::new()))
    }

    /// The clock after the filter.
    #[cfg(feature = "wire")]
    pub(crate) fn filtered_ms(&mut self, clocks: Clocks) -> i64 {
        let ns = |ms: i64| ms.saturating_mul(1_000_000);
        let boot_ms = i64::try_from(clocks.boot.as_millis()).unwrap_or(i64::MAX);
        let (now_ns, event) = self.clock().filter(ns(clocks.wall_ms), ns(boot_ms));
        self.warnings.extend(event.map(|event| event.to_string()));
        now_ns.div_euclid(1_000_000)
    }

    /// The first numbers of the answer.
    #[cfg(feature = "snowflake")]
    pub(crate) fn answer(&mut self, numbers: &[f64]) {
        for (place, number) in self.numbers.iter_mut().zip(numbers) {
            *place = *number;
        }
    }

    /// The parts of the input, one after another. Errors: `invalid_argument` for lengths that the input has not.
    pub(crate) fn input<const N: usize>(&self, lengths: [i32; N]) -> Result<[&[u8]; N]> {
        let mut parts = [&[][..]; N];
        self.split(&lengths, &mut parts)?;
        Ok(parts)
    }

    #[inline(never)]
    fn split<'a>(&'a self, lengths: &[i32], parts: &mut [&'a [u8]]) -> Result<()> {
        let mut rest = &self.input[..];
        for (part, length) in parts.iter_mut().zip(lengths) {
            let split = usize::try_from(*length).ok().and_then(|length| rest.split_at_checked(length));
            let wrong = || Error::invalid("length", length, "0 to what is left of the input");
            (*part, rest) = split.ok_or_else(wrong)?;
        }
        Ok(())
    }

    /// As [`Module::input`], for texts in UTF-8.
    pub(crate) fn texts<const N: usize>(&self, lengths: [i32; N]) -> Result<[&str; N]> {
        let mut texts = [""; N];
        for (text, bytes) in texts.iter_mut().zip(self.input(lengths)?) {
            *text = utf8(bytes)?;
        }
        Ok(texts)
    }

    /// Overwrites the input, which was a key.
    #[cfg(feature = "public-ids")]
    pub(crate) fn forget_input(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.input);
    }
}

#[cold]
#[inline(never)]
fn no_handle(handle: i32, kind: &str) -> CallFailed {
    let message = match cfg!(feature = "messages") {
        true => alloc::format!("handle {handle} is not {kind}; it was freed, or is of another kind"),
        false => alloc::string::String::new(),
    };
    Error::new(Code::Closed, message).into()
}

#[inline(never)]
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|_| Error::invalid("text", "not UTF-8", "UTF-8").into())
}

/// The version of the exports.
#[unsafe(no_mangle)]
extern "C" fn abi_version() -> i32 {
    ABI_VERSION
}

/// Makes room for `length` bytes of input, and returns their address. The next call of `input` ends it.
#[unsafe(no_mangle)]
extern "C" fn input(length: i32) -> i32 {
    with(|module| {
        module.input.clear();
        module.input.resize(length.max(0) as usize, 0);
        module.input.as_ptr() as i32
    })
}

/// The address of the output.
#[unsafe(no_mangle)]
extern "C" fn output() -> i32 {
    with_output(|output| output.bytes.as_ptr() as i32)
}

/// The length of the output.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> i32 {
    with_output(|output| output.bytes.len() as i32)
}

/// The address of the answer's numbers, which never changes.
#[cfg(feature = "snowflake")]
#[unsafe(no_mangle)]
extern "C" fn numbers() -> i32 {
    with(|module| module.numbers.as_ptr() as i32)
}

/// Frees a handle; a key in it is overwritten. A later call may return its number again.
#[unsafe(no_mangle)]
extern "C" fn free(handle: i32) {
    with(|module| module.free(handle));
}

/// Has messages name options and arguments in camel case from now on.
#[cfg(any(feature = "public-ids", feature = "wire"))]
#[unsafe(no_mangle)]
extern "C" fn camel_case() {
    leafid_core::options::Spelling::Camel.set();
}

/// The code with this number.
#[inline(never)]
pub(crate) fn code(number: i32) -> Result<Code> {
    Code::from_number(number).ok_or_else(|| Error::invalid("number", number, "the number of an error").into())
}

/// The error with this number, whose message is the input.
#[cfg(feature = "wire")]
pub(crate) fn given_error(module: &Module, number: i32, length: i32) -> Result<Error> {
    let [message] = module.texts([length])?;
    Ok(Error::new(code(number)?, message))
}

exports! {
    /// The name of the error with this number, as output; 1 if a later try can succeed with nothing changed, else 0.
    fn error_name(_, number: i32) -> i32 {
        let code = code(number)?;
        write(&[code.name()]);
        Ok(code.can_retry().into())
    }

    /// The error for an option or an argument.
    #[cfg(feature = "messages")]
    fn refuse(module, name_length: i32, value_length: i32, allowed_length: i32) -> i32 {
        let [name, value, allowed] = module.texts([name_length, value_length, allowed_length])?;
        if !cfg!(feature = "snowflake") {
            return Err(CallFailed::from(Error::invalid(name, value, allowed)));
        }
        let instead = Some(allowed).filter(|allowed| !allowed.is_empty());
        Err(CallFailed::from(leafid_core::options::refused(name, value, instead)))
    }
}
