//! Waiting for a condition, with a deadline.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{HarnessError, Result};

/// How long to rest between two looks. Short, so that a wait ends when its condition holds and not much later.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Ends every wait of this process, now and from now on: somebody wants the whole thing to end.
pub fn interrupt_waits() {
    INTERRUPTED.store(true, Ordering::SeqCst);
}

/// Waits until `look` brings a value (`()` for a plain condition). It answers `Err(text)` with what it saw as long as it
/// has none.
///
/// # Errors
/// [`HarnessError::Deadline`] with the last text when no value comes in time, [`HarnessError::Interrupted`] after
/// [`interrupt_waits`].
pub fn eventually<T>(
    within: Duration,
    what: impl Into<String>,
    mut look: impl FnMut() -> std::result::Result<T, String>,
) -> Result<T> {
    until(within, what.into(), || if INTERRUPTED.load(Ordering::SeqCst) { Look::GiveUp } else { look().into() })
}

/// Like [`eventually`], and not to be interrupted: for taking things away.
pub(crate) fn eventually_regardless<T>(
    within: Duration,
    what: impl Into<String>,
    mut look: impl FnMut() -> std::result::Result<T, String>,
) -> Result<T> {
    until(within, what.into(), || look().into())
}

enum Look<T> {
    Found(T),
    NotYet(String),
    GiveUp,
}

impl<T> From<std::result::Result<T, String>> for Look<T> {
    fn from(look: std::result::Result<T, String>) -> Self {
        look.map_or_else(Self::NotYet, Self::Found)
    }
}

fn until<T>(within: Duration, what: String, mut look: impl FnMut() -> Look<T>) -> Result<T> {
    let began = Instant::now();
    loop {
        match look() {
            Look::Found(value) => return Ok(value),
            Look::GiveUp => return Err(HarnessError::Interrupted { what }),
            Look::NotYet(last) if began.elapsed() >= within => {
                return Err(HarnessError::Deadline { what, after: began.elapsed(), last });
            }
            Look::NotYet(_) => thread::sleep(BETWEEN_LOOKS),
        }
    }
}
