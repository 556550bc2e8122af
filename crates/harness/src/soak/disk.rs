//! A small file system that fills up and is freed again at drawn moments.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::chance::Chance;
use super::shared::Shared;

/// Fills to the last block and frees again, until the end.
pub(super) fn fill_and_free(shared: &Shared, disk: &Path, seed: u64) {
    let mut chance = Chance::new(seed, 3);
    let filler = disk.join("filler");
    while !shared.ending() {
        shared.pass(Duration::from_millis(500 + chance.below(4000)));
        println!("the disk is filled");
        let full_for = Duration::from_millis(chance.below(4000));
        if let Ok(mut file) = File::create(&filler) {
            // What others free meanwhile is taken too.
            for _ in 0..1 + full_for.as_millis() / 200 {
                fill(&mut file);
                shared.pass(Duration::from_millis(200));
            }
        }
        if let Err(error) = fs::remove_file(&filler) {
            shared.found(format!("the soak could not free its disk: {error}"));
        }
        println!("the disk is free again");
    }
}

fn fill(file: &mut File) {
    for size in [1 << 20, 4096, 512] {
        let piece = vec![1; size];
        while file.write_all(&piece).is_ok() {}
        // Blocks that are only promised are taken now.
        let _ = file.sync_all();
    }
}
