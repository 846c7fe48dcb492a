//! Times the parse of a file in process: `cargo run --release --example time_parse FILE [ROUNDS]`.
use std::time::Instant;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let rounds = std::env::args().nth(2).map_or(5, |n| n.parse().unwrap());
    for _ in 0..rounds {
        let start = Instant::now();
        let c = retell_core::parse(retell_core::Source::Path(path.clone().into()), &retell_core::ParseOptions::default(), &mut |_, _| true).unwrap();
        let parsed = start.elapsed();
        let mut out = Vec::new();
        retell_core::sinks::write_events(&c.events, &mut out).unwrap();
        println!("{:?} parse, {:?} with json, {} events", parsed, start.elapsed(), c.events.len());
    }
}
