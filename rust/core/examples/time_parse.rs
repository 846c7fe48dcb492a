//! Times the parse of a file in process: `cargo run --release --example time_parse FILE [ROUNDS [THREADS]]`.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

use retell_core::{ParseOptions, Source, parse, sinks};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("which file?")?);
    let rounds: usize = arguments.next().map_or(Ok(5), |text| text.parse())?;
    let threads: Option<NonZero<usize>> = arguments.next().map(|text| text.parse()).transpose()?;
    let options = ParseOptions { threads, ..ParseOptions::default() };
    for _ in 0..rounds {
        let start = Instant::now();
        let conversation = parse(Source::Path(path.clone()), &options, &mut |_, _| true)?;
        let parsed = start.elapsed();
        let mut json = Vec::new();
        sinks::write_events(&conversation.events, &mut json)?;
        let events = conversation.events.len();
        println!("{parsed:?} to {events} events, {:?} to {} bytes of JSON", start.elapsed(), json.len());
    }
    Ok(())
}
