//! Prints `src/fold/table.rs` from OpenCC's `TSCharacters.txt`, whose path is the only argument.
//!
//! The file is part of the crate `ferrous-opencc` (assets/dictionaries) and of OpenCC itself. Of several
//! simplified forms the first is taken, and a chain is followed to its end, so that folding twice changes
//! nothing.

use std::collections::BTreeMap;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: fold_table PATH/TO/TSCharacters.txt")?;
    let mut map = BTreeMap::new();
    for line in std::fs::read_to_string(path)?.lines().filter(|l| !l.starts_with('#')) {
        let Some((from, to)) = line.split_once('\t') else { continue };
        let (Some(from), Some(to)) = (from.chars().next(), to.chars().next()) else { continue };
        if from != to {
            map.insert(from, to);
        }
    }
    println!("//! Traditional characters and their simplified forms, sorted; data only.");
    println!("//!");
    println!(
        "//! Made by `examples/fold_table.rs` from `TSCharacters.txt` of Open Chinese Convert (OpenCC),"
    );
    println!(
        "//! <https://github.com/BYVoid/OpenCC>, Apache License 2.0, as shipped by ferrous-opencc 0.4.0."
    );
    println!();
    println!("#[rustfmt::skip]");
    println!("pub(super) static PAIRS: [(char, char); {}] = [", map.len());
    let pairs: Vec<String> = map
        .iter()
        .map(|(from, &first)| {
            let mut to = first;
            while let Some(&next) = map.get(&to) {
                to = next;
            }
            format!("('{from}', '{to}'),")
        })
        .collect();
    for row in pairs.chunks(8) {
        println!("    {}", row.join(" "));
    }
    println!("];");
    Ok(())
}
