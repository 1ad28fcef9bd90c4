//! Why branches cannot be marked.

use crate::codeobject::CodeObjectError;
use crate::rewrite::RewriteError;
use thiserror::Error;
use wb_program::LoadError;

#[derive(Clone, Debug, Error)]
pub enum MarkError {
    #[error(transparent)]
    Rewrite(#[from] RewriteError),
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error("there is no kernel or function `{name}`")]
    NoKernel { name: String, hint: String },
    #[error("cannot mark `{place}`: {what}")]
    Place { place: String, what: String, hint: String },
}

impl MarkError {
    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            MarkError::NoKernel { hint, .. } | MarkError::Place { hint, .. } => {
                Some(hint.as_str()).filter(|h| !h.is_empty())
            }
            _ => None,
        }
    }
}

impl From<CodeObjectError> for MarkError {
    fn from(e: CodeObjectError) -> Self {
        MarkError::Rewrite(e.into())
    }
}
