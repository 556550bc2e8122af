//! The agent's log: one line an event, as Nomad writes it, or one JSON object.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use longshore_settings::Log;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Registry, reload};

/// The level of a log that has been started.
pub(crate) struct LogLevel(reload::Handle<Targets, Registry>);

impl LogLevel {
    /// From now on what is logged is of this level; a name of the agent file, in capitals.
    pub(crate) fn set(&self, level: &str) {
        // Fails only when the log is gone.
        let _ = self.0.reload(filter(level));
    }
}

/// Starts the log for this process; only the first call counts.
pub(crate) fn start(log: &Log) -> LogLevel {
    let (filter, handle) = reload::Layer::new(filter(&log.level));
    let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| Gate);
    let base = Registry::default().with(filter);
    let set = if log.json {
        tracing::subscriber::set_global_default(base.with(lines.json().with_file(log.include_location)))
    } else {
        tracing::subscriber::set_global_default(base.with(lines.event_format(Lines)))
    };
    if let Err(error) = set {
        tracing::debug!(%error, "the log was started before");
    }
    LogLevel(handle)
}

/// Libraries speak only when something is wrong: the log is about the agent.
fn filter(level: &str) -> Targets {
    let (level, of_libraries) = match level {
        "TRACE" => (LevelFilter::TRACE, LevelFilter::WARN),
        "DEBUG" => (LevelFilter::DEBUG, LevelFilter::WARN),
        "WARN" => (LevelFilter::WARN, LevelFilter::WARN),
        "ERROR" => (LevelFilter::ERROR, LevelFilter::ERROR),
        "OFF" => (LevelFilter::OFF, LevelFilter::OFF),
        _ => (LevelFilter::INFO, LevelFilter::WARN),
    };
    // Every crate of ours begins with this.
    Targets::new().with_default(of_libraries).with_target("longshore", level)
}

/// What is logged before the banner is out; `None` once it is.
static HELD: Mutex<Option<Vec<u8>>> = Mutex::new(Some(Vec::new()));

/// Lets out what was logged so far, and from then on everything as it comes.
pub(crate) fn open() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(held) = held {
        let _ = io::stdout().write_all(&held);
    }
}

/// Standard output, behind the banner.
struct Gate;

impl Write for Gate {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(held) => held.write(bytes),
            None => io::stdout().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// `    2026-11-30T18:00:00.000Z [INFO]  client: message: key=value`.
struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let now = chrono::Utc::now().format("%Y-%m-%dT%H:%M:%S%.3fZ");
        let level = match *event.metadata().level() {
            Level::ERROR => "[ERROR]",
            Level::WARN => "[WARN] ",
            Level::INFO => "[INFO] ",
            Level::DEBUG => "[DEBUG]",
            Level::TRACE => "[TRACE]",
        };
        let target = event.metadata().target();
        let target = target.strip_prefix("longshore_").unwrap_or(target);
        let target = target.split("::").next().unwrap_or(target);
        let mut fields = Fields::default();
        event.record(&mut fields);
        write!(out, "    {now} {level} {target}: {}", fields.message)?;
        let mut any = !fields.rest.is_empty();
        if any {
            write!(out, ":{}", fields.rest)?;
        }
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            let extensions = span.extensions();
            let Some(told) = extensions.get::<FormattedFields<N>>().filter(|told| !told.is_empty()) else { continue };
            write!(out, "{} {told}", if any { "" } else { ":" })?;
            any = true;
        }
        writeln!(out)
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message.push_str(value);
        } else if value.is_empty() || value.contains(|c: char| c.is_whitespace() || c == '"' || c == '=') {
            self.rest.push_str(&format!(" {}={value:?}", field.name()));
        } else {
            self.rest.push_str(&format!(" {}={value}", field.name()));
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(level: &str, target: &str, of: Level, expected: bool) {
        assert_eq!(filter(level).would_enable(target, &of), expected, "{level} {target} {of}");
    }

    #[test]
    fn libraries_speak_only_when_something_is_wrong() {
        check("DEBUG", "longshore_images::keeper", Level::DEBUG, true);
        check("DEBUG", "longshore", Level::DEBUG, true);
        check("DEBUG", "hyper::client", Level::INFO, false);
        check("DEBUG", "hyper::client", Level::WARN, true);
        check("INFO", "longshore_agent", Level::DEBUG, false);
        check("ERROR", "hyper::client", Level::WARN, false);
        check("OFF", "longshore_agent", Level::ERROR, false);
    }
}
