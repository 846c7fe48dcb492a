//! What was done with the images of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::images::extract::Extracted;
use crate::images::runs::LeftInline;

/// What was done, file by file and over all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageReports {
    /// Each file's, with its path: those of a folder by name.
    pub files: Vec<(PathBuf, ImageReport)>,
    /// All together. What stands in several files is one distinct image here.
    pub total: ImageReport,
}

/// What was done with the images of one file or of several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageReport {
    /// Files handled.
    pub files: u64,
    /// Images lifted or put back, each occurrence counted.
    pub images: u64,
    /// Names of the distinct ones.
    pub names: BTreeSet<String>,
    /// Bytes of all files before.
    pub bytes_before: u64,
    /// Bytes of all files after.
    pub bytes_after: u64,
    /// Characters of base64 of the images.
    pub characters: u64,
    /// Runs that stand where an image can and were left, by reason.
    pub left_inline: BTreeMap<&'static str, u64>,
    /// Names of assets that are missing.
    pub missing: BTreeSet<String>,
    /// Images by media type.
    pub media_types: BTreeMap<&'static str, u64>,
    /// Files that are no regular files, and were passed over.
    pub skipped: Vec<PathBuf>,
}

impl ImageReport {
    /// Adds what was done with other files.
    pub fn add(&mut self, other: &Self) {
        self.files += other.files;
        self.images += other.images;
        self.names.extend(other.names.iter().cloned());
        self.bytes_before += other.bytes_before;
        self.bytes_after += other.bytes_after;
        self.characters += other.characters;
        for (reason, count) in &other.left_inline {
            *self.left_inline.entry(reason).or_default() += count;
        }
        self.missing.extend(other.missing.iter().cloned());
        for (media_type, count) in &other.media_types {
            *self.media_types.entry(media_type).or_default() += count;
        }
        self.skipped.extend(other.skipped.iter().cloned());
    }

    /// What was lifted out of one file.
    #[must_use]
    pub fn of(extracted: Extracted, names: BTreeSet<String>) -> Self {
        Self {
            files: 1,
            images: extracted.images,
            names,
            bytes_before: extracted.bytes_before,
            bytes_after: extracted.bytes_after,
            characters: extracted.characters,
            left_inline: extracted
                .left_inline
                .into_iter()
                .map(|(reason, count)| (LeftInline::as_str(reason), count))
                .collect(),
            media_types: extracted.media_types,
            ..Self::default()
        }
    }
}
