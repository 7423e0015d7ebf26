//! A net under code of others that panics on damaged files.
//!
//! Sizes, offsets and counts are checked before the arrow and parquet crates see them. What is left, odd schemas and
//! damaged pages above all, still ends in `unwrap`, `assert!` and slices out of bounds inside of them: some thirty
//! places in the conversion of an Arrow schema alone, which has no form that returns an error. A damaged file must not
//! end the program, so these calls are made here. The panic hook stays what it was, but for silence about panics on a
//! thread that is within [`guarded`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use super::Decoded;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What `decode` gives; a panic within is an error with its message.
///
/// State that `decode` changes must not be used after an error: a reading is over then.
pub(super) fn guarded<T>(decode: impl FnOnce() -> Decoded<T>) -> Decoded<T> {
    quiet_hook();
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(false);
    result.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(message.unwrap_or("the data makes no sense").to_owned())
    })
}

/// Puts a hook before the present one, once, that says nothing of guarded panics.
fn quiet_hook() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(guarded(|| Ok(1)), Ok(1));
        assert_eq!(guarded(|| Err::<(), _>("no".to_owned())), Err("no".to_owned()));
        assert_eq!(guarded::<()>(|| panic!("at {}", 3)), Err("at 3".to_owned()));
        assert!(!GUARDED.get());
    }
}
