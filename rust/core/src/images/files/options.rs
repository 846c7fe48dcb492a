//! How the images of files are handled.

use std::num::NonZero;
use std::path::Path;

use crate::error::Result;
use crate::images::placeholder::PlaceholderForm;
use crate::images::runs::DEFAULT_CAP;
use crate::refusal::Refusal;

/// How to treat files.
#[derive(Debug, Clone)]
pub struct FileOptions {
    /// Images of more bytes than this stay inline.
    pub cap: usize,
    /// Replace the files themselves.
    pub in_place: bool,
    /// Write nothing.
    pub dry_run: bool,
    /// How placeholders are written.
    pub form: PlaceholderForm,
    /// Leave placeholders whose asset is missing.
    pub allow_missing: bool,
    /// Threads that handle the files of a folder; as the environment says when `None`, or as many as there are cores.
    pub threads: Option<NonZero<usize>>,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            cap: DEFAULT_CAP,
            in_place: false,
            dry_run: false,
            form: PlaceholderForm::Retell,
            allow_missing: false,
            threads: None,
        }
    }
}

impl FileOptions {
    /// Refuses to write to more than one place, and to write where no place is named.
    pub(super) fn refuse_places(&self, out: Option<&Path>) -> Result<()> {
        match out {
            Some(_) if self.in_place => Err(Refusal::TwoPlaces.into_error()),
            None if !self.in_place && !self.dry_run => Err(Refusal::NoPlace.into_error()),
            _ => Ok(()),
        }
    }
}
