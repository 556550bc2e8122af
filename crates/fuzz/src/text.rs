use crate::TEXT_BYTES_MAX;
use crate::chance::Chance;

/// One text made of others and of pieces.
pub(crate) fn changed(texts: &[String], pieces: &[&str], chance: &mut Chance) -> String {
    let pick = |chance: &mut Chance| texts.get(chance.below(texts.len())).map_or("", String::as_str);
    let piece = |chance: &mut Chance| pieces.get(chance.below(pieces.len())).copied().unwrap_or("");
    let mut text = pick(chance).to_owned();
    for _ in 0..=chance.below(6) {
        let start = boundary(&text, chance.below(text.len() + 1));
        let end = boundary(&text, (start + chance.below(24)).min(text.len())).max(start);
        match chance.below(6) {
            0 => text.replace_range(start..end, ""),
            1 => text.insert_str(start, piece(chance)),
            2 => text.replace_range(start..end, piece(chance)),
            3 => {
                let part = text.get(start..end).unwrap_or("").repeat(1 + chance.below(20));
                text.insert_str(start, &part);
            }
            4 => {
                let other = pick(chance);
                let from = boundary(other, chance.below(other.len() + 1));
                let to = boundary(other, (from + chance.below(200)).min(other.len())).max(from);
                text.insert_str(start, other.get(from..to).unwrap_or(""));
            }
            _ => {
                // Two lines change places.
                let mut lines: Vec<&str> = text.lines().collect();
                if lines.len() > 1 {
                    let (one, other) = (chance.below(lines.len()), chance.below(lines.len()));
                    lines.swap(one, other);
                    text = lines.join("\n");
                }
            }
        }
    }
    text.truncate(boundary(&text, text.len().min(TEXT_BYTES_MAX)));
    text
}

/// The last boundary of a character that is not behind `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
