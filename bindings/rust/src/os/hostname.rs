//! The name of this host.

/// The host name by uname(2).
#[cfg(unix)]
pub(crate) fn hostname() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// The name of the machine, without a domain.
#[cfg(windows)]
pub(crate) fn hostname() -> String {
    use windows_sys::Win32::System::SystemInformation::{ComputerNameDnsHostname, GetComputerNameExW};
    let mut name = [0_u16; 256];
    let mut room = name.len() as u32;
    // SAFETY: at most as many units are written as there is room for.
    let done = unsafe { GetComputerNameExW(ComputerNameDnsHostname, name.as_mut_ptr(), &raw mut room) };
    if done != 0 { crate::os::windows::narrow(&name) } else { String::new() }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    #[test]
    fn it_is_the_kernel_s() {
        let kernels = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        assert_eq!(super::hostname(), kernels.trim());
    }
}
