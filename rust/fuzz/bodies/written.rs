//! What a parse leaves behind, to be compared.

use retell_core::sinks::{write_events, write_manifest};
use retell_core::{Conversation, ErrorKind};

/// What a file is called so that its name tells no more than bytes do.
pub const NAMELESS: &str = "unknown";

/// The files as they are written, or what went wrong.
pub type Written = Result<Files, (ErrorKind, String)>;

/// The files of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub struct Files {
    events: Vec<u8>,
    manifest: Vec<u8>,
    assets: Vec<(String, Vec<u8>)>,
}

/// All files, without the time and the source's name.
pub fn written(result: retell_core::Result<Conversation>) -> Written {
    let mut conversation = result.map_err(|error| (error.kind(), error.to_string()))?;
    let manifest = &mut conversation.manifest;
    manifest.parsed_at.clear();
    let name = manifest.source.name.take();
    if name.is_some_and(|name| name == manifest.conversation_id) {
        NAMELESS.clone_into(&mut manifest.conversation_id);
    }
    let (mut events, mut manifest) = (Vec::new(), Vec::new());
    let done = write_events(&conversation.events, &mut events)
        .and_then(|()| write_manifest(&conversation.manifest, &mut manifest));
    assert!(done.is_ok(), "{done:?}");
    for file in [&events, &manifest] {
        assert!(serde_json::from_slice::<serde_json::Value>(file).is_ok());
    }
    let asset = |(name, image): &(String, _)| {
        let mut bytes = Vec::new();
        let copied = conversation.copy_image(*image, &mut bytes);
        assert!(copied.is_ok(), "{copied:?}");
        (name.clone(), bytes)
    };
    let assets = conversation.assets.iter().map(asset).collect();
    Ok(Files { events, manifest, assets })
}

/// Panics with the first line that differs: the whole of both would hide it. A failure's words name its source, so
/// that with `other_name` only its kind is compared.
pub fn same(actual: &Written, expected: &Written, other_name: bool, how: &dyn Fn() -> String) {
    let (actual, expected) = match (actual, expected) {
        (Ok(actual), Ok(expected)) => (actual, expected),
        (Err(actual), Err(expected)) if other_name => return assert_eq!(actual.0, expected.0, "{}", how()),
        (actual, expected) => return assert_eq!(actual, expected, "{}", how()),
    };
    if actual == expected {
        return;
    }
    for (actual, expected) in [(&actual.events, &expected.events), (&actual.manifest, &expected.manifest)] {
        let lines = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect::<Vec<_>>();
        for (actual, expected) in lines(actual).iter().zip(&lines(expected)) {
            assert_eq!(actual, expected, "{}", how());
        }
        assert_eq!(actual.len(), expected.len(), "{}", how());
    }
    assert_eq!(actual.assets, expected.assets, "{}", how());
}
