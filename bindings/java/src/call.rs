//! Native methods: their failures, handles and texts.

use jni::errors::{Error as JniError, ErrorPolicy, Result as JniResult};
use jni::objects::{JLongArray, JObjectArray, JString, JThrowable};
use jni::sys::jlong;
use jni::{Env, EnvUnowned, JValue, jni_sig, jni_str};
use leafid::{Code, Error, allowed};
use std::any::Any;

/// Why a native method fails.
pub(crate) enum Failure {
    /// leafid's error.
    Ours(Error),
    /// That of a call of Java. If it has thrown, that is thrown.
    Jni(JniError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Ours(error)
    }
}

impl From<JniError> for Failure {
    fn from(error: JniError) -> Failure {
        Failure::Jni(error)
    }
}

/// What most native methods return.
pub(crate) type Done<T> = Result<T, Failure>;

struct Throws;

impl<T: Default> ErrorPolicy<T, Failure> for Throws {
    type Captures<'local: 'method, 'method> = ();

    fn on_error<'local: 'method, 'method>(
        env: &mut Env<'local>,
        (): &mut (),
        failure: Failure,
    ) -> JniResult<T> {
        let error = match failure {
            Failure::Ours(error) => error,
            Failure::Jni(JniError::JavaException) => return Ok(T::default()),
            Failure::Jni(error) => Error::new(Code::Internal, format!("{error}; report this")),
        };
        match throw(env, &error) {
            Ok(()) | Err(JniError::JavaException) => Ok(T::default()),
            Err(other) => Err(other),
        }
    }

    fn on_panic<'local: 'method, 'method>(
        env: &mut Env<'local>,
        captures: &mut (),
        _: Box<dyn Any + Send>,
    ) -> JniResult<T> {
        let error = Error::new(Code::Internal, "a panic in leafid; report this");
        Throws::on_error(env, captures, Failure::Ours(error))
    }
}

fn throw(env: &mut Env<'_>, error: &Error) -> JniResult<()> {
    let code = env.new_string(error.code().name())?;
    let message = env.new_string(error.message())?;
    let class = env.find_class(jni_str!("io/leafid/LeafidException"))?;
    let arguments = [JValue::Object(&code), JValue::Object(&message), JValue::Bool(error.code().can_retry())];
    let signature = jni_sig!("(Ljava/lang/String;Ljava/lang/String;Z)V");
    let thrown = env.new_object(class, signature, &arguments)?;
    let thrown = env.cast_local::<JThrowable>(thrown)?;
    env.throw(thrown)
}

/// The code of this name.
pub(crate) fn code_of(name: &str) -> Option<Code> {
    Code::ALL.into_iter().find(|code| code.name() == name)
}

/// Runs a native method. Its failure, or panic, is thrown.
pub(crate) fn call<'local, T: Default>(
    mut env: EnvUnowned<'local>,
    work: impl FnOnce(&mut Env<'local>) -> Done<T>,
) -> T {
    env.with_env(work).resolve::<Throws>()
}

/// A handle of this value.
pub(crate) fn keep<T>(value: T) -> jlong {
    Box::into_raw(Box::new(value)) as jlong
}

/// The value of a handle.
///
/// # Safety
///
/// It is one of [`keep`], for the same type, and is not freed while the native method runs.
pub(crate) unsafe fn held<'h, T>(handle: jlong) -> &'h T {
    // SAFETY: the caller's.
    unsafe { &*(handle as *const T) }
}

/// Ends a handle.
///
/// # Safety
///
/// As for [`held`], and it is used by nothing afterwards.
pub(crate) unsafe fn free<T>(handle: jlong) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(handle as *mut T) });
}

/// Native methods of a class of Java, by their names there. Each gets the environment; those `of` a type get the value of
/// the handle, too, which is their first argument in Java. `freed` adds `free`, which ends a handle of that type.
macro_rules! natives {
    ($class:literal freed $held:ty; $($rest:tt)*) => {
        natives! { $class;
            /// Ends the handle, and closes what was not closed.
            "free"(_env, handle: jni::sys::jlong) {
                // SAFETY: its object has gone, or calls this once as the last thing: nothing else uses it.
                unsafe { $crate::call::free::<$held>(handle) };
                Ok(())
            }
        }
        natives! { $class of $held; $($rest)* }
    };
    ($class:literal of $held:ty; $(
        $(#[$doc:meta])*
        $name:literal($env:ident, $its:ident $(, $arg:ident: $kind:ty)* $(,)?) $(-> $out:ty)? $body:block
    )*) => {$(
        #[allow(unreachable_pub, reason = "jni_mangle asks for it")]
        const _: () = {
            $(#[$doc])*
            #[jni::jni_mangle($class, $name)]
            pub fn native<'l>(
                env: jni::EnvUnowned<'l>,
                _: jni::objects::JObject<'l>,
                handle: jni::sys::jlong,
                $($arg: $kind),*
            ) $(-> $out)? {
                $crate::call::call(env, |$env| {
                    // SAFETY: the handle is of the receiver, or of what the receiver holds, and of this type.
                    let $its = unsafe { $crate::call::held::<$held>(handle) };
                    $body
                })
            }
        };
    )*};
    ($class:literal; $(
        $(#[$doc:meta])*
        $name:literal($env:ident $(, $arg:ident: $kind:ty)* $(,)?) $(-> $out:ty)? $body:block
    )*) => {$(
        #[allow(unreachable_pub, reason = "jni_mangle asks for it")]
        const _: () = {
            $(#[$doc])*
            #[jni::jni_mangle($class, $name)]
            pub fn native<'l>(env: jni::EnvUnowned<'l>, _: jni::objects::JObject<'l>, $($arg: $kind),*) $(-> $out)? {
                $crate::call::call(env, |$env| $body)
            }
        };
    )*};
}
pub(crate) use natives;

/// Texts of Java, of which each may be null.
pub(crate) type Texts<'local> = JObjectArray<'local, JString<'local>>;

/// The texts of an array; none of a null array.
pub(crate) fn texts(env: &mut Env<'_>, array: &Texts<'_>) -> JniResult<Vec<Option<String>>> {
    if array.is_null() {
        return Ok(Vec::new());
    }
    (0..array.len(env)?)
        .map(|at| {
            let text = array.get_element(env, at)?;
            let read = (!text.is_null()).then(|| text.try_to_string(env)).transpose();
            env.delete_local_ref(text);
            read
        })
        .collect()
}

/// Texts for Java.
pub(crate) fn new_texts<'local>(env: &mut Env<'local>, texts: &[Option<String>]) -> JniResult<Texts<'local>> {
    let array = Texts::new(env, texts.len(), JString::null())?;
    for (at, text) in texts.iter().enumerate() {
        if let Some(text) = text {
            let text = env.new_string(text)?;
            array.set_element(env, at, &text)?;
            env.delete_local_ref(text);
        }
    }
    Ok(array)
}

/// The text of an argument. Errors: `invalid_argument` for null.
pub(crate) fn text(env: &Env<'_>, name: &str, text: &JString<'_>) -> Done<String> {
    if text.is_null() {
        return Err(Error::invalid(name, "null", allowed(name)).into());
    }
    Ok(text.try_to_string(env)?)
}

/// Numbers into the front of an array.
pub(crate) fn write(env: &Env<'_>, out: &JLongArray<'_>, from: i32, numbers: &[i64]) -> JniResult<()> {
    out.set_region(env, from, numbers)
}
