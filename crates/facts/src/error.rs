//! What is wrong in a file of flow facts: where, and what would be right.

use miette::{Diagnostic, NamedSource, SourceSpan};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;
use wb_isa::SourceFile;

#[derive(Clone, Debug, Error, Diagnostic)]
#[error("{file}:{line}: {message}")]
pub struct FactsError {
    pub file: String,
    /// From 1.
    pub line: u32,
    pub message: String,
    #[source_code]
    source_code: Arc<NamedSource<Arc<str>>>,
    #[label("here")]
    pub span: Option<SourceSpan>,
    #[help]
    pub hint: Option<String>,
}

impl FactsError {
    pub fn new(file: &SourceFile, span: Range<usize>, message: impl Into<String>) -> Box<FactsError> {
        let end = span.end.min(file.text.len());
        let start = span.start.min(end);
        Box::new(FactsError {
            file: file.name.clone(),
            line: file.line_column(start).0,
            message: message.into(),
            source_code: Arc::new(NamedSource::new(&file.name, file.text.clone())),
            span: Some((start..end).into()),
            hint: None,
        })
    }

    #[must_use]
    pub fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<FactsError> {
        self.hint = Some(hint.into());
        self
    }
}
