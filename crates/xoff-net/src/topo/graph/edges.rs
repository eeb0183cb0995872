//! Lists of edges: two names in a line, and what the link has.

use super::sketch::{Sketch, Trouble, Wire};

pub(super) fn read(text: &str) -> Result<Sketch, Trouble> {
    let mut sketch = Sketch::default();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let words = line.split('#').next().unwrap_or("");
        let is_separator = |letter: char| letter.is_whitespace() || letter == ',';
        let mut words = words.split(is_separator).filter(|word| !word.is_empty());
        let Some(one) = words.next() else { continue };
        let Some(other) = words.next() else {
            let message = format!("\"{one}\" is alone: an edge has two names");
            return Err(Trouble::at(number, message));
        };
        let mut wire = Wire::default();
        for word in words {
            set(&mut wire, word).map_err(|message| Trouble::at(number, message))?;
        }
        let ends = [one, other].map(|name| sketch.number_or_add(name, number));
        sketch.link(ends, wire, number)?;
    }
    Ok(sketch)
}

fn set(wire: &mut Wire, word: &str) -> Result<(), String> {
    if let Some(cost) = word.strip_prefix("cost=") {
        wire.set_cost(cost)
    } else if word.ends_with("bps") {
        wire.set_rate(word)
    } else if word.ends_with('s') {
        wire.set_delay(word)
    } else {
        Err(format!(
            "\"{word}\" is neither a rate such as 100Gbps, nor a delay such as 1us, nor a cost \
             such as cost=2"
        ))
    }
}
