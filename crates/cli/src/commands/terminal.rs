//! The terminal of this process.

use std::io::{self, IsTerminal};

use longshore_api::TerminalSize;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

/// Whether a person sits at both ends.
pub(super) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// `None`: there is no terminal to ask.
pub(super) fn size() -> Option<TerminalSize> {
    let size = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(io::stdin())).ok()?;
    Some(TerminalSize { height: i64::from(size.ws_row), width: i64::from(size.ws_col) })
}

/// Keys go through as they are typed, until this is dropped.
pub(super) struct Raw(Option<Termios>);

impl Raw {
    /// Does nothing where standard input is no terminal.
    ///
    /// # Errors
    /// When the terminal takes no orders.
    pub(super) fn begin() -> io::Result<Self> {
        if !io::stdin().is_terminal() {
            return Ok(Self(None));
        }
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self(Some(before)))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = tcsetattr(io::stdin(), OptionalActions::Drain, before);
        }
    }
}
