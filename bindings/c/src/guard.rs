//! The guard that converts an error or a panic of a body to a status.

use crate::{last_error, leafid_status};
use leafid::{Code, Error, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `body`. An error or a panic becomes the thread's last error. A success does not change that.
#[inline(always)]
pub(crate) fn guard(body: impl FnOnce() -> Result<()>) -> leafid_status {
    // Unwind safe: the host is responsible for the state of a handle, and options change in one assignment.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => leafid_status::LEAFID_OK,
        Ok(Err(error)) => failed(error),
        Err(panic) => failed(defect(panic.as_ref())),
    }
}

/// For functions without a status: a panic becomes the thread's last error.
pub(crate) fn quietly(body: impl FnOnce()) {
    let _ = guard(|| {
        body();
        Ok(())
    });
}

#[cold]
fn failed(error: Error) -> leafid_status {
    let status = error.code().into();
    last_error::set(error);
    status
}

fn defect(panic: &(dyn Any + Send)) -> Error {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    Error::new(Code::Internal, format!("a defect in leafid, please report it: {said}"))
}

#[cfg(test)]
mod tests {
    use super::{guard, quietly};
    use crate::last_error::leafid_last_error;
    use crate::leafid_status::{LEAFID_INTERNAL, LEAFID_OK};

    fn said() -> String {
        let mut text = [0u8; 200];
        // SAFETY: the array has this number of bytes.
        let length = unsafe { leafid_last_error(text.as_mut_ptr().cast(), text.len()) };
        String::from_utf8_lossy(&text[..length]).into_owned()
    }

    #[test]
    fn a_panic_is_an_error_and_goes_no_further() {
        assert_eq!(guard(|| panic!("as {}", "asked")), LEAFID_INTERNAL);
        assert!(said().starts_with("internal: ") && said().ends_with("as asked"), "{}", said());
        quietly(|| panic!("again"));
        assert!(said().ends_with("again"), "{}", said());
        assert_eq!(guard(|| std::panic::panic_any(7)), LEAFID_INTERNAL);
        assert!(said().ends_with("no message"), "{}", said());
        assert_eq!(guard(|| Ok(())), LEAFID_OK);
    }
}
