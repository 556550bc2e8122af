use std::time::Duration;

use longshore_driver::{ConfigFault, DriverError, ExitResult};
use longshore_values::GoDuration;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What a mock task writes to one of its outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) text: String,
    /// How often again after the first time.
    pub(super) repeat: u32,
    pub(super) repeat_delay: Duration,
}

/// How a mock task behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) start_block_for: Duration,
    start_error: String,
    start_error_recoverable: bool,
    pub(super) run_for: Duration,
    /// How long it goes on after it was told to end.
    pub(super) kill_after: Duration,
    exit_code: i32,
    exit_signal: i32,
    exit_message: String,
    pub(super) signal_error: String,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
    /// The address that it tells as its own.
    pub(super) address: Option<String>,
}

/// The keys of the task's `config`. Numbers and truth values may be written as texts, as they are after interpolation.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Written {
    start_block_for: Span,
    start_error: String,
    start_error_recoverable: Flag,
    run_for: Span,
    kill_after: Span,
    exit_code: Number,
    exit_signal: Number,
    exit_err_msg: String,
    signal_error: String,
    stdout_string: String,
    stdout_repeat: Number,
    stdout_repeat_duration: Span,
    stderr_string: String,
    stderr_repeat: Number,
    stderr_repeat_duration: Span,
    driver_ip: String,
    driver_advertise: Flag,
}

#[derive(Debug, Default)]
struct Span(Duration);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.is_empty() {
            return Ok(Self::default());
        }
        let span: GoDuration = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(span.to_std()))
    }
}

#[derive(Debug, Default)]
struct Number(i32);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.as_i64().and_then(|number| i32::try_from(number).ok()),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        found.map(Self).ok_or_else(|| serde::de::Error::custom("not a whole number"))
    }
}

#[derive(Debug, Default)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = match Value::deserialize(deserializer)? {
            Value::Bool(flag) => Some(flag),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        found.map(Self).ok_or_else(|| serde::de::Error::custom("neither true nor false"))
    }
}

impl Config {
    pub(super) fn parse(config: &Value) -> Result<Self, DriverError> {
        let written = Written::deserialize(config).map_err(|error| {
            DriverError::fatal(format!("failed to parse config: {error}"))
                .hint("the mock driver's keys are listed with the job language")
                .with_config_faults(faults(config))
        })?;
        let output = |text, repeat: Number, delay: Span| Output {
            text,
            repeat: u32::try_from(repeat.0).unwrap_or(0),
            repeat_delay: delay.0,
        };
        let address = Some(written.driver_ip).filter(|ip| written.driver_advertise.0 && !ip.is_empty());
        Ok(Self {
            start_block_for: written.start_block_for.0,
            start_error: written.start_error,
            start_error_recoverable: written.start_error_recoverable.0,
            run_for: written.run_for.0,
            kill_after: written.kill_after.0,
            exit_code: written.exit_code.0,
            exit_signal: written.exit_signal.0,
            exit_message: written.exit_err_msg,
            signal_error: written.signal_error,
            stdout: output(written.stdout_string, written.stdout_repeat, written.stdout_repeat_duration),
            stderr: output(written.stderr_string, written.stderr_repeat, written.stderr_repeat_duration),
            address,
        })
    }

    pub(super) fn start_outcome(&self) -> Result<(), DriverError> {
        match (self.start_error.as_str(), self.start_error_recoverable) {
            ("", _) => Ok(()),
            (text, true) => Err(DriverError::retry(text)),
            (text, false) => Err(DriverError::fatal(text)),
        }
    }

    /// Its end when it ran its time.
    pub(super) fn exit(&self) -> ExitResult {
        ExitResult {
            exit_code: self.exit_code,
            signal: self.exit_signal,
            oom_killed: false,
            by_engine: false,
            message: self.exit_message.clone(),
        }
    }

    /// Its end when it was told to.
    pub(super) fn killed(&self) -> ExitResult {
        ExitResult { exit_code: 0, signal: 0, oom_killed: false, by_engine: false, message: String::new() }
    }
}

/// What is wrong with each key by itself.
fn faults(config: &Value) -> Vec<ConfigFault> {
    let fault = |(key, value): (&String, &Value)| {
        let why = Written::deserialize(Value::from_iter([(key.clone(), value.clone())])).err()?;
        Some(ConfigFault { path: vec![key.clone()], message: format!("failed to parse config: {key}: {why}") })
    };
    config.as_object().into_iter().flatten().filter_map(fault).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    #[test]
    fn configs() {
        let config = Config::parse(&json!({
            "run_for": "1m30s", "exit_code": "7", "exit_err_msg": "disk on fire",
            "stdout_string": "hello\n", "stdout_repeat": 2, "stdout_repeat_duration": "10ms",
        }))
        .unwrap();
        assert_eq!(config.run_for, Duration::from_secs(90));
        assert_eq!((config.exit().exit_code, config.exit().message.as_str()), (7, "disk on fire"));
        assert_eq!((config.stdout.text.as_str(), config.stdout.repeat), ("hello\n", 2));
        for (bad, why) in [
            (json!({"run_for": "soon"}), "run_for"),
            (json!({"colour": 1}), "colour"),
            (json!({"exit_code": "x"}), "whole number"),
        ] {
            let text = Config::parse(&bad).unwrap_err().message;
            assert!(text.contains(why) || text.contains("soon"), "{text}");
        }
    }

    #[test]
    fn start_errors() {
        let outcome = |config| Config::parse(&config).unwrap().start_outcome();
        use longshore_driver::ErrorClass;
        assert!(outcome(json!({})).is_ok());
        assert_eq!(outcome(json!({"start_error": "cold"})).unwrap_err().class, ErrorClass::Fatal);
        let retry = json!({"start_error": "cold", "start_error_recoverable": true});
        assert_eq!(outcome(retry).unwrap_err().class, ErrorClass::Retry);
    }
}
