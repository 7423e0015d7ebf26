//! What a measurement depends on: the processor, the day, the compiler, the commit.

use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::project::{output, root};

/// The name of the processor, or "unknown processor".
pub(crate) fn processor() -> String {
    let from_file = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_name(&text));
    let from_system = || output(Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"])).ok();
    let from_variable = || std::env::var("PROCESSOR_IDENTIFIER").ok();
    from_file.or_else(from_variable).or_else(from_system).unwrap_or_else(|| "unknown processor".to_owned())
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// Number of hardware threads.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, Into::into)
}

/// A name fit for a file: "Intel(R) Xeon(R) Processor" becomes "intel-xeon-processor".
pub(crate) fn slug(name: &str) -> String {
    let name = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// Today in UTC, as 2026-01-31.
pub(crate) fn today() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let (year, month, day) = date_of(seconds / 86_400);
    format!("{year}-{month:02}-{day:02}")
}

/// Year, month and day of a number of days since 1970: counted in years that start in March, so that the leap day
/// comes last, and in cycles of 400 years (146,097 days).
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let march_month = (5 * day + 2) / 153;
    let month = (march_month + 2) % 12 + 1;
    (400 * cycle + year + u64::from(month <= 2), month, day - (153 * march_month + 2) / 5 + 1)
}

/// The commit measured, with a mark when files differ from it.
pub(crate) fn commit() -> String {
    let git = |arguments: &[&str]| output(Command::new("git").current_dir(root()).args(arguments)).ok();
    let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) else { return "unknown commit".to_owned() };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|changes| !changes.is_empty());
    if changed { format!("{commit} with local changes") } else { commit }
}

/// The compiler.
pub(crate) fn compiler() -> String {
    output(Command::new("rustc").arg("--version")).unwrap_or_else(|_| "unknown compiler".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(date_of(0), (1970, 1, 1));
        assert_eq!(date_of(11_016), (2000, 2, 29));
        assert_eq!(date_of(11_017), (2000, 3, 1));
        assert_eq!(date_of(20_819), (2027, 1, 1));
    }

    #[test]
    fn processors_become_file_names() {
        assert_eq!(slug("Intel(R) Xeon(R) CPU @ 2.80GHz"), "intel-xeon-cpu-2-80ghz");
        assert_eq!(model_name("processor\t: 0\nmodel name\t: Some CPU\n").as_deref(), Some("Some CPU"));
    }
}
