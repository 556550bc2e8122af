use std::error::Error;

/// What the restart policy may do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// May go away by itself: try again as the restart policy says.
    Retry,
    /// Cannot succeed with this job on this node: the task fails for good.
    Fatal,
    /// The attempt was called off by its owner.
    Cancelled,
}

/// What the answer to a person turns on, beside the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reason {
    /// No other one fits.
    #[default]
    Other,
    /// What was asked for does not exist.
    NotFound,
    /// Another agent has what this one would need to change.
    KeptElsewhere,
}

/// One thing that stands against a task's `config`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFault {
    /// The keys that lead to it from `config` on; of several blocks or elements the place in the list stands behind the
    /// key: `mount[1]`, `source`. Empty when it is about the whole.
    pub path: Vec<String>,
    pub message: String,
}

/// Why a driver could not do what it was asked to.
///
/// `message` is one or more lines for people: what was being done, to what, why it failed. `hint` is what to try.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct DriverError {
    pub class: ErrorClass,
    pub reason: Reason,
    pub message: String,
    /// What to try; may be empty.
    pub hint: String,
    /// What stands against the task's `config`, one by one, where that is what the error is about.
    pub config_faults: Vec<ConfigFault>,
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
}

impl DriverError {
    pub fn retry(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Retry, message)
    }

    pub fn fatal(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Fatal, message)
    }

    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::new(ErrorClass::Cancelled, message)
    }

    fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self {
            class,
            reason: Reason::Other,
            message: message.into(),
            hint: String::new(),
            config_faults: Vec::new(),
            source: None,
        }
    }

    #[must_use]
    pub fn because(mut self, reason: Reason) -> Self {
        self.reason = reason;
        self
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    #[must_use]
    pub fn with_config_faults(mut self, faults: Vec<ConfigFault>) -> Self {
        self.config_faults = faults;
        self
    }

    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Message, causes and hint in one text, as a task event shows it.
    pub fn full_text(&self) -> String {
        let mut text = self.message.clone();
        let mut cause = self.source.as_deref().map(|source| source as &dyn Error);
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        if !self.hint.is_empty() {
            text.push_str(" (hint: ");
            text.push_str(&self.hint);
            text.push(')');
        }
        text
    }
}
