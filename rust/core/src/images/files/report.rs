//! What was done with the images of files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::images::extract::Extracted;
use crate::images::runs::LeftInline;
use crate::measures::grouped;

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
    /// Bytes of base64 that the images take.
    pub image_bytes: u64,
    /// Runs that stand where an image can and were left, by reason.
    pub left_inline: BTreeMap<LeftInline, u64>,
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
        self.image_bytes += other.image_bytes;
        for (&reason, count) in &other.left_inline {
            *self.left_inline.entry(reason).or_default() += count;
        }
        self.missing.extend(other.missing.iter().cloned());
        for (media_type, count) in &other.media_types {
            *self.media_types.entry(media_type).or_default() += count;
        }
        self.skipped.extend(other.skipped.iter().cloned());
    }

    /// How many of the images differ: the number of files they make.
    #[must_use]
    pub fn distinct(&self) -> u64 {
        self.names.len() as u64
    }

    /// How many are copies of another.
    #[must_use]
    pub fn duplicates(&self) -> u64 {
        self.images.saturating_sub(self.distinct())
    }

    /// How many runs were left, and why: `3 left inline (2 no image, 1 too large)`.
    #[must_use]
    pub fn left_inline_in_words(&self) -> String {
        let in_words = |(reason, &count): (&LeftInline, &u64)| format!("{} {}", grouped(count), reason.in_words());
        let reasons: Vec<_> = self.left_inline.iter().filter(|(_, count)| **count > 0).map(in_words).collect();
        let total = format!("{} left inline", grouped(self.left_inline.values().sum()));
        if reasons.is_empty() { total } else { format!("{total} ({})", reasons.join(", ")) }
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
            image_bytes: extracted.characters,
            left_inline: extracted.left_inline,
            media_types: extracted.media_types,
            ..Self::default()
        }
    }
}

impl Serialize for ImageReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        fields.serialize_entry("files", &self.files)?;
        fields.serialize_entry("images", &self.images)?;
        fields.serialize_entry("distinct", &self.distinct())?;
        fields.serialize_entry("duplicates", &self.duplicates())?;
        fields.serialize_entry("bytes_before", &self.bytes_before)?;
        fields.serialize_entry("bytes_after", &self.bytes_after)?;
        fields.serialize_entry("image_bytes", &self.image_bytes)?;
        fields.serialize_entry("left_inline", &self.left_inline)?;
        fields.serialize_entry("missing", &self.missing)?;
        fields.serialize_entry("media_types", &self.media_types)?;
        let skipped: Vec<_> = self.skipped.iter().map(|path| path.to_string_lossy()).collect();
        fields.serialize_entry("skipped", &skipped)?;
        fields.end()
    }
}
