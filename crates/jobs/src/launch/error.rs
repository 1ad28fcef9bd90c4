//! What is wrong in a launch file: where, and what would be right.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;
use wb_isa::SourceFile;

#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct LaunchError {
    pub message: String,
    #[source_code]
    source_code: Arc<NamedSource<Arc<str>>>,
    #[label("here")]
    pub span: Option<SourceSpan>,
    #[help]
    pub hint: Option<String>,
}

impl LaunchError {
    pub fn new(file: &SourceFile, span: Option<Range<usize>>, message: impl Into<String>) -> Self {
        LaunchError {
            message: message.into(),
            source_code: Arc::new(NamedSource::new(&file.name, file.text.clone())),
            span: span.map(|s| (s.start.min(file.text.len())..s.end.min(file.text.len())).into()),
            hint: None,
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
