//! The agent's log: one line an event, as Nomad writes it, or one JSON object.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use longshore_settings::Log;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// Starts the log for this process; only the first call counts.
pub(crate) fn start(log: &Log) {
    let level = match log.level.as_str() {
        "TRACE" => "trace",
        "DEBUG" => "debug",
        "WARN" => "warn",
        "ERROR" => "error",
        "OFF" => "off",
        _ => "info",
    };
    // Libraries speak only when something is wrong: the log is about the agent.
    let filter = format!("warn,longshore={level},{}", OURS.map(|ours| format!("longshore_{ours}={level}")).join(","));
    let filter = if level == "off" { EnvFilter::new("off") } else { EnvFilter::new(filter) };
    let base = tracing_subscriber::fmt().with_ansi(false).with_env_filter(filter).with_writer(|| Gate);
    let set = if log.json {
        tracing::subscriber::set_global_default(base.json().with_file(log.include_location).finish())
    } else {
        tracing::subscriber::set_global_default(base.event_format(Lines).finish())
    };
    if let Err(error) = set {
        tracing::debug!(%error, "the log was started before");
    }
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

const OURS: [&str; 12] = [
    "agent",
    "client",
    "crashpoint",
    "docker",
    "engine",
    "exec",
    "http",
    "images",
    "journal",
    "link",
    "logs",
    "server",
];

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
