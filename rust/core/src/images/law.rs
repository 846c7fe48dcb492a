//! The law of the codec, restore(extract(x)) == x, on streams and in memory, however they are read.

use std::collections::{BTreeMap, HashMap};

use base64_simd::STANDARD;

use proptest::prelude::*;

use super::extract::{Asset, Extracted, extract_by, lift};
use super::placeholder::{PlaceholderForm, has_placeholders, matches_name};
use super::restore::{Restored, refill, restore_by};
use super::runs::LeftInline;
use super::window::CHUNK;

type Assets = HashMap<String, Vec<u8>>;

fn extracted(chunk: usize, text: &[u8], cap: usize) -> (Vec<u8>, Assets, Extracted) {
    let (mut out, mut assets) = (Vec::new(), Assets::new());
    let mut keep = |asset: Asset<'_>| {
        assets.insert(asset.name.to_owned(), asset.data.to_owned());
        Ok(())
    };
    let found = extract_by(chunk, &mut &text[..], &mut out, cap, &mut keep).expect("in memory");
    (out, assets, found)
}

fn restored(chunk: usize, text: &[u8], assets: &Assets, form: PlaceholderForm) -> (Vec<u8>, Restored) {
    let mut out = Vec::new();
    let mut lookup = |name: &str| Ok(assets.get(name).cloned());
    let found = restore_by(chunk, &mut &text[..], &mut out, form, &mut lookup).expect("in memory");
    (out, found)
}

fn image(length: usize, filling: u8) -> String {
    let mut bytes = b"GIF89a".to_vec();
    bytes.resize(length.max(96), filling);
    STANDARD.encode_to_string(bytes)
}

fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let image = (96_usize..400, any::<u8>()).prop_map(|(length, filling)| image(length, filling));
    let lead = proptest::sample::select(vec![
        r#"{"data":""#,
        r#"":  ""#,
        "\"data:image/gif;base64,",
        ";BASE64,",
        "\\\"",
        "",
        "x",
        "[\"",
    ]);
    let trail = proptest::sample::select(vec!["\"", "\",", "==done", "", "=", "\\n", "\n", "\r\n"]);
    let planted = proptest::sample::select(vec![
        "retell-asset:",
        "retell-asset:~",
        "retell-asset",
        "asset:assets/img-",
        "~",
        ";",
        "entire-asset:assets/img-0123456789.png",
    ]);
    let name = format!("retell-asset:assets/img-{}.png;", "0a".repeat(32));
    prop_oneof![
        4 => (lead, image, trail).prop_map(|(lead, image, trail)| format!("{lead}{image}{trail}").into_bytes()),
        3 => planted.prop_map(|text| text.as_bytes().to_vec()),
        1 => Just(name.into_bytes()),
        1 => "[A-Za-z0-9+/]{0,200}".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ]
}

fn texts() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(pieces(), 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    // More where PROPTEST_CASES says so.
        #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(3000)))]

    #[test]
    fn what_is_extracted_is_restored_however_it_is_read(text in texts(), chunk in 1_usize..600, cap in prop_oneof![Just(1 << 20), 90_usize..400]) {
        let (slim, assets, found) = extracted(CHUNK, &text, cap);
        let (full, back) = restored(CHUNK, &slim, &assets, PlaceholderForm::Retell);
        prop_assert_eq!(&full, &text);
        prop_assert_eq!((back.images, back.missing.len()), (found.images, 0));
        let in_pieces = extracted(chunk, &text, cap);
        prop_assert_eq!(&in_pieces.0, &slim);
        prop_assert_eq!(&in_pieces.2, &found);
        prop_assert_eq!(restored(chunk, &slim, &assets, PlaceholderForm::Retell).0, text);
    }

    #[test]
    fn in_memory_the_same_comes_out_as_of_a_stream(text in texts(), cap in prop_oneof![Just(1 << 20), 90_usize..400]) {
        let (slim, assets, found) = extracted(CHUNK, &text, cap);
        let lifted = lift(&text, cap);
        let mut written = vec![0; lifted.length()];
        lifted.write_to(&mut written);
        prop_assert_eq!(&written, &slim);
        prop_assert_eq!(lifted.is_changed(), slim != text);
        let mut in_memory = Assets::new();
        for (place, (name, _, length)) in lifted.images().enumerate() {
            let mut data = vec![0; length];
            prop_assert!(lifted.write_image(place, &mut data));
            in_memory.insert(name.to_owned(), data);
        }
        prop_assert_eq!(in_memory.len(), lifted.images().count());
        prop_assert_eq!(&in_memory, &assets);
        let refilled = refill(&slim, PlaceholderForm::Retell, &mut |name| Ok(assets.get(name))).expect("in memory");
        let mut full = vec![0; refilled.length()];
        refilled.write_to(&mut full);
        prop_assert_eq!(full, text);
        prop_assert_eq!(refilled.restored().images, found.images);
    }

    #[test]
    fn anything_is_refilled_as_it_is_restored(text in texts(), known: bool) {
        let mut assets = Assets::new();
        if known {
            assets.insert(format!("img-{}.png", "0a".repeat(32)), vec![7; 100]);
            assets.insert("img-0123456789.png".to_owned(), vec![8; 100]);
        }
        for form in [PlaceholderForm::Retell, PlaceholderForm::Entire] {
            let refilled = refill(&text, form, &mut |name| Ok(assets.get(name))).expect("in memory");
            let mut full = vec![0; refilled.length()];
            refilled.write_to(&mut full);
            prop_assert_eq!((full, refilled.restored().clone()), restored(CHUNK, &text, &assets, form));
        }
    }

    #[test]
    fn twice_there_and_twice_back(text in texts()) {
        let (once, assets, _) = extracted(CHUNK, &text, 1 << 20);
        let (twice, more, _) = extracted(CHUNK, &once, 1 << 20);
        prop_assert!(more.is_empty());
        let back = restored(CHUNK, &twice, &more, PlaceholderForm::Retell).0;
        prop_assert_eq!(&back, &once);
        prop_assert_eq!(restored(CHUNK, &back, &assets, PlaceholderForm::Retell).0, text);
    }

    #[test]
    fn anything_can_be_restored(text in texts(), chunk in 1_usize..600) {
        let nothing = Assets::new();
        for form in [PlaceholderForm::Retell, PlaceholderForm::Entire] {
            prop_assert_eq!(restored(chunk, &text, &nothing, form), restored(CHUNK, &text, &nothing, form));
        }
    }
}

#[test]
fn nothing_to_lift_is_left_as_it_is() {
    let text = br#"{"type":"user","message":{"content":"hello"}}"#;
    assert_eq!(extracted(CHUNK, text, 1 << 20).0, text);
    assert!(!has_placeholders(text));
}

#[test]
fn an_image_stands_in_a_file_of_its_own_name() {
    let base64 = image(200, 7);
    let text = format!(r#"{{"data":"{base64}"}}"#);
    let (slim, assets, found) = extracted(CHUNK, text.as_bytes(), 1 << 20);
    let (name, data) = assets.iter().next().expect("one image");
    assert_eq!(slim, format!(r#"{{"data":"retell-asset:assets/{name};"}}"#).into_bytes());
    assert!(has_placeholders(&slim) && matches_name(data, name) && !matches_name(b"GIF89a", name));
    assert_eq!((found.images, found.characters), (1, base64.len() as u64));
    assert_eq!(found.media_types, BTreeMap::from([("image/gif", 1)]));
}

#[test]
fn what_stays_is_counted_by_its_reason() {
    let image = image(200, 7);
    let not_canonical = format!("{}B==", &image[..image.len() - 3]);
    for (characters, cap, reason) in [
        (not_canonical.as_str(), 1 << 20, LeftInline::NotCanonical),
        (&image, 100, LeftInline::TooLarge),
        (&"QUJD".repeat(40), 1 << 20, LeftInline::NotAnImage),
    ] {
        let text = format!(r#"["{characters}"]"#);
        let (slim, _, found) = extracted(CHUNK, text.as_bytes(), cap);
        assert_eq!((slim, found.left_inline), (text.into_bytes(), BTreeMap::from([(reason, 1)])), "{reason:?}");
    }
}

#[test]
fn placeholders_of_another_tool_are_read() {
    let data = STANDARD.decode_to_vec(image(200, 7)).expect("base64");
    let assets = Assets::from([("img-0123456789ab.gif".to_owned(), data.clone())]);
    let text = br#"["entire-asset:assets/img-0123456789ab.gif","retell-asset:~"]"#;
    let (full, found) = restored(CHUNK, text, &assets, PlaceholderForm::Entire);
    assert_eq!(found.images, 1);
    assert_eq!(full, format!(r#"["{}","retell-asset:~"]"#, STANDARD.encode_to_string(data)).into_bytes());
}
