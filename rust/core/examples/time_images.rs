//! Times the image codec, into memory that is there already: `cargo run --release --example time_images [MEGABYTES [ROUNDS]]`.

use std::collections::HashMap;
use std::time::Instant;

use base64_simd::STANDARD;
use retell_core::images::{DEFAULT_CAP, PlaceholderForm, extract, lift, refill, restore};

/// A transcript of so many lines, each with an image of about 700 kB, every second one a repetition.
fn transcript(megabytes: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut text = Vec::with_capacity(megabytes << 20);
    let mut last = String::new();
    for line in 0..megabytes {
        if line % 2 == 0 {
            let mut image = b"GIF89a".to_vec();
            image.extend(
                std::iter::repeat_with(|| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    state.to_le_bytes()
                })
                .take(90_000)
                .flatten(),
            );
            last = STANDARD.encode_to_string(image);
        }
        let words = "a line of tool output that is no image, with \\\"quotes\\\" and \\n in it; ".repeat(900);
        text.extend_from_slice(
            format!("{{\"content\":[{{\"source\":{{\"data\":\"{last}\"}}}},\"{words}\"]}}\n").as_bytes(),
        );
    }
    text
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let megabytes = arguments.next().map_or(Ok(100), |text| text.parse())?;
    let rounds: usize = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let text = transcript(megabytes);
    let speed = |start: Instant| text.len() as f64 / 1e9 / start.elapsed().as_secs_f64();
    let mut copy = text.clone();
    let (mut slim, mut full) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()));
    for _ in 0..rounds {
        let start = Instant::now();
        copy.copy_from_slice(&text);
        let floor = speed(start);
        slim.clear();
        let start = Instant::now();
        let found = extract(&mut &copy[..], &mut slim, DEFAULT_CAP, &mut |_| Ok(()))?;
        let stream_there = speed(start);
        let start = Instant::now();
        let lifted = lift(&copy, DEFAULT_CAP);
        slim.resize(lifted.length(), 0);
        lifted.write_to(&mut slim);
        let there = speed(start);
        let mut assets = HashMap::new();
        for (place, (name, _, length)) in lifted.images().enumerate() {
            let mut data = vec![0; length];
            assert!(lifted.write_image(place, &mut data), "an image is not decoded again");
            assets.insert(name.to_owned(), data);
        }
        full.clear();
        let start = Instant::now();
        restore(&mut &slim[..], &mut full, PlaceholderForm::Retell, &mut |name| Ok(assets.get(name)))?;
        let stream_back = speed(start);
        assert!(full == text, "what was extracted is not what was restored");
        full.fill(0);
        let start = Instant::now();
        refill(&slim, PlaceholderForm::Retell, &mut |name| Ok(assets.get(name)))?.write_to(&mut full);
        let back = speed(start);
        assert!(full == text, "what was lifted is not what was put back");
        println!(
            "{megabytes} MB, {} images: copy {floor:.2} GB/s, extract {there:.2}, as a stream {stream_there:.2}, \
             restore {back:.2}, as a stream {stream_back:.2}",
            found.images
        );
    }
    Ok(())
}
