//! What signals say to an agent.

use longshore_settings::AgentConfig;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::AgentError;

/// Whether a signal means leaving in good order, as the agent file says; the exit code tells it.
#[derive(Debug, Clone, Copy)]
struct Leave {
    interrupt: bool,
    terminate: bool,
}

/// What was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    End(End),
    /// SIGHUP.
    Reload,
}

/// The wish that the agent ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// As the banner's lines name it.
    pub(crate) name: &'static str,
    pub(crate) leave: bool,
}

pub(crate) struct Signals {
    leave: Leave,
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl Signals {
    pub(crate) fn listen(config: &AgentConfig) -> Result<Self, AgentError> {
        let listen = |kind| signal(kind).map_err(|source| AgentError::System { doing: "listen for signals", source });
        Ok(Self {
            leave: Leave { interrupt: config.leave_on_interrupt, terminate: config.leave_on_terminate },
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Said {
        tokio::select! {
            _ = self.interrupt.recv() => Said::End(End { name: "interrupt", leave: self.leave.interrupt }),
            _ = self.terminate.recv() => Said::End(End { name: "terminated", leave: self.leave.terminate }),
            _ = self.hangup.recv() => Said::Reload,
        }
    }

    /// The next wish to end, whatever else is said before.
    pub(crate) async fn next_end(&mut self) -> End {
        loop {
            match self.next().await {
                Said::End(end) => return end,
                Said::Reload => println!("==> Caught signal: hangup: not now"),
            }
        }
    }
}
