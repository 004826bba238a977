//! What a C program passes: pointers that are NULL, valid or misaligned, texts, and buffers of exactly their size.

use crate::Input;
use leafid_c::{leafid_last_error, leafid_status};
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// What one call is passed; it lives until the call has returned.
pub(super) struct Memory {
    how: u8,
    texts: Vec<CString>,
    /// For a pointer that is misaligned: room for whatever is written.
    room: Vec<u64>,
}

impl Memory {
    /// `how`: seldom another pointer than the valid one.
    pub(super) fn new(how: u8) -> Memory {
        Memory { how, texts: Vec::new(), room: vec![0; 64] }
    }

    /// Whether results do not go where they should.
    pub(super) fn is_odd(&self) -> bool {
        matches!(self.how, 250..)
    }

    /// Where a result goes.
    pub(super) fn out<T>(&mut self, to: &mut T) -> *mut T {
        match self.how {
            250..=252 => ptr::null_mut(),
            253.. if align_of::<T>() > 1 => self.room.as_mut_ptr().cast::<u8>().wrapping_add(1).cast(),
            _ => to,
        }
    }

    /// A text, or NULL; not always UTF-8.
    pub(super) fn text(&mut self, input: &mut Input<'_>) -> *const c_char {
        let odd = input.byte();
        if odd == 255 {
            return ptr::null();
        }
        let mut bytes: Vec<u8> = input.text().into_bytes();
        bytes.retain(|&byte| byte != 0);
        if odd == 254 {
            bytes.push(0xff);
        }
        self.own(bytes)
    }

    pub(super) fn own(&mut self, mut bytes: Vec<u8>) -> *const c_char {
        bytes.retain(|&byte| byte != 0);
        let text = CString::new(bytes).unwrap_or_default();
        self.texts.push(text);
        self.texts.last().map_or(ptr::null(), |text| text.as_ptr())
    }

    /// Calls a function that writes text: NULL, too little room, all room. Answers the whole text.
    pub(super) fn written(
        &mut self,
        input: &mut Input<'_>,
        write: impl Fn(*mut c_char, usize, *mut usize) -> leafid_status,
    ) -> Option<String> {
        let mut needed = usize::MAX;
        // NULL with room is refused.
        let refused = write(ptr::null_mut(), 1, &mut needed);
        assert_ne!(refused, leafid_status::LEAFID_OK);
        if !status_of(write(ptr::null_mut(), 0, self.out(&mut needed))) || self.is_odd() {
            return None;
        }
        assert!(needed < 1 << 24);
        let whole = needed;
        for cap in [input.below(40), whole + 1 + 4_096] {
            let mut buffer = vec![0x7f_u8; cap].into_boxed_slice();
            assert!(status_of(write(buffer.as_mut_ptr().cast(), cap, ptr::null_mut())));
            if cap == 0 {
                continue;
            }
            let text = CStr::from_bytes_until_nul(&buffer).expect("it ends").to_str().expect("UTF-8");
            if cap > whole + 4_096 {
                return Some(text.to_owned());
            }
        }
        None
    }
}

/// Whether a call succeeded; if not, it says why, and is no defect.
pub(super) fn status_of(status: leafid_status) -> bool {
    if status == leafid_status::LEAFID_OK {
        return true;
    }
    let mut buffer = [0x7f_u8; 700];
    // SAFETY: as many bytes as it is said to have.
    let needed = unsafe { leafid_last_error(buffer.as_mut_ptr().cast(), buffer.len()) };
    let text = CStr::from_bytes_until_nul(&buffer).expect("it ends").to_str().expect("UTF-8");
    assert_ne!(status, leafid_status::LEAFID_INTERNAL, "{text}");
    assert!(needed > 0 && needed >= text.len() && !text.contains(char::is_control), "{text:?}");
    // SAFETY: NULL without room.
    assert_eq!(unsafe { leafid_last_error(ptr::null_mut(), 0) }, needed);
    false
}

/// A call that may fail, or not.
pub(super) fn asked(status: leafid_status) {
    let _ = status_of(status);
}

/// A text that lives for ever.
pub(super) fn text_of(text: *const c_char) -> &'static str {
    assert!(!text.is_null());
    // SAFETY: not NULL; of the library's own, as the header says.
    unsafe { CStr::from_ptr(text) }.to_str().expect("UTF-8")
}
