//! What a program is warned of: it went on, but not all is as it should be.

/// What a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningKind {
    /// Entry types in no table.
    UnknownEntryType,
    /// Damaged lines, lost images, files that could not be read.
    DamagedInput,
    /// Assets that are missing.
    MissingAsset,
}

/// One warning for all that is of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What it is about.
    pub kind: WarningKind,
    /// Lower case, no full stop.
    pub message: String,
}
