//! Times the parse of a file in process, and prints the seconds of every round as JSON:
//! `cargo run --release --example time_parse -- FILE [--rounds N] [--threads N] [--check]`.
//!
//! `--check` adds the number of events and a sum over their JSON, made outside of the time; without it nothing
//! but the parse is done, so that a counter of instructions sees nothing else.

use std::hash::{DefaultHasher, Hasher};
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Instant;

use retell_core::{ParseOptions, Progress, Source, parse, sinks};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut path, mut rounds, mut check) = (None, 5_usize, false);
    let mut options = ParseOptions::default();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check" => check = true,
            "--rounds" => rounds = arguments.next().ok_or("how many rounds?")?.parse()?,
            "--threads" => {
                let threads: NonZero<usize> = arguments.next().ok_or("how many threads?")?.parse()?;
                options.threads = Some(threads);
            }
            _ => path = Some(PathBuf::from(argument)),
        }
    }
    let path = path.ok_or("which file?")?;
    let mut seconds = Vec::with_capacity(rounds);
    let mut checked = String::new();
    for _ in 0..rounds {
        let start = Instant::now();
        let conversation = parse(Source::Path(path.clone()), &options, &mut Progress::silent())?;
        seconds.push(start.elapsed().as_secs_f64());
        if check {
            let mut json = Vec::new();
            sinks::write_events(&conversation.events, &mut json)?;
            let mut sum = DefaultHasher::new();
            sum.write(&json);
            checked = format!(",\"events\":{},\"sum\":\"{:016x}\"", conversation.events.len(), sum.finish());
        }
    }
    println!("{{\"seconds\":{seconds:?}{checked}}}");
    Ok(())
}
