//! The memory this process has used, and may use.

/// The largest resident size so far, in bytes, where the system tells (Linux).
pub(crate) fn peak_bytes() -> Option<u64> {
    status("VmHWM:")
}

/// The resident size, in bytes, where the system tells (Linux).
pub(crate) fn resident_bytes() -> Option<u64> {
    status("VmRSS:")
}

fn status(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Half of the memory that is free, in bytes, where the system tells (Linux).
pub(crate) fn half_of_available() -> Option<u64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024 / 2)
}
