//! Names the places between a durable record and the act that follows it, so that tests can kill a process there.
//!
//! Without the feature `crash-points` a point is nothing. With it, two variables of the environment choose one:
//!
//! - `LONGSHORE_CRASH_AT=name`: the process kills itself (SIGKILL) when it comes to that point.
//! - `LONGSHORE_CRASH_HOLD=name`: the first to come to that point creates the file that `LONGSHORE_CRASH_FILE` names and
//!   waits until somebody removes it. What a test does meanwhile (kill the engine, look around) happens exactly there.
//!
//! A point is written as `crash_point("crate.what_was_recorded")`, with the name as a plain literal: tests collect the
//! names from the source.

/// Passes a named place between a record and an act.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn crash_point(_name: &'static str) {}

#[cfg(feature = "crash-points")]
pub use armed::crash_point;

#[cfg(feature = "crash-points")]
mod armed {
    use std::path::{Path, PathBuf};
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use nix::sys::signal::{Signal, raise};

    struct Plan {
        kill_at: Option<String>,
        hold_at: Option<String>,
        hold_file: Option<PathBuf>,
        held: AtomicBool,
    }

    static PLAN: LazyLock<Plan> = LazyLock::new(|| Plan {
        kill_at: std::env::var("LONGSHORE_CRASH_AT").ok(),
        hold_at: std::env::var("LONGSHORE_CRASH_HOLD").ok(),
        hold_file: std::env::var_os("LONGSHORE_CRASH_FILE").map(PathBuf::from),
        held: AtomicBool::new(false),
    });

    /// Passes a named place between a record and an act; in this build the environment may end or hold the process here.
    pub fn crash_point(name: &'static str) {
        let plan = &*PLAN;
        if plan.kill_at.as_deref() == Some(name) {
            eprintln!("crash point {name}: killing this process");
            // SIGKILL cannot be refused; an error would mean that the kernel does not know the signal.
            let _ = raise(Signal::SIGKILL);
        }
        if plan.hold_at.as_deref() == Some(name)
            && let Some(file) = &plan.hold_file
            && !plan.held.swap(true, Ordering::SeqCst)
        {
            hold(name, file);
        }
    }

    fn hold(name: &str, file: &Path) {
        eprintln!("crash point {name}: waiting until {} is removed", file.display());
        if let Err(error) = std::fs::write(file, name) {
            eprintln!("crash point {name}: could not write {}: {error}", file.display());
            return;
        }
        while file.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
