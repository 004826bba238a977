//! The two things that are not the core's: where a program begins, and how it ends.

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(".globl _start", "_start:", "xor ebp, ebp", "and rsp, -16", "call begin", "ud2");

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(".globl _start", "_start:", "mov x29, xzr", "bl begin", "brk 1");

/// Ends the program by Linux's `exit_group`.
pub(crate) fn exit(status: i32) -> ! {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the call takes an integer, touches no memory and does not return.
    unsafe {
        core::arch::asm!("syscall", in("rax") 231, in("rdi") status, options(noreturn, nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        core::arch::asm!("svc 0", in("x8") 94, in("x0") status, options(noreturn, nostack));
    }
}
