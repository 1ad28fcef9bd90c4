//! What a user asked for and cannot have, with what to do instead.

use miette::Diagnostic as _;
use thiserror::Error;
use wb_jobs::JobError;

/// A command, expression or place that does not work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct DebugError {
    pub message: String,
    pub hint: Option<String>,
}

impl DebugError {
    pub fn new(message: impl Into<String>) -> DebugError {
        DebugError { message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> DebugError {
        self.hint = Some(hint.into());
        self
    }

    /// Both in one line, where there is only one.
    pub fn line(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{} ({hint})", self.message),
            None => self.message.clone(),
        }
    }
}

impl From<&JobError> for DebugError {
    fn from(error: &JobError) -> DebugError {
        DebugError { message: error.to_string(), hint: error.help().map(|h| h.to_string()) }
    }
}
