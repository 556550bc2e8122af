/// Longer words are compared with none: what people mistype is shorter.
const WORD_CHARACTERS_MAX: usize = 64;

/// The candidate nearest to what was written, when it is near enough to be what was meant; of several the first.
pub fn nearest<'a>(written: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (written.chars().count() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((distance(&written.to_lowercase(), &candidate.to_lowercase())?, candidate)))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters must be changed, added, taken away or swapped with their neighbour; `None` when it is many.
fn distance(left: &str, right: &str) -> Option<usize> {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    if left.len().abs_diff(right.len()) > 3 || left.len().max(right.len()) > WORD_CHARACTERS_MAX {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut best = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, expected: Option<&str>) {
        let known = ["count", "constraint", "network", "task", "cpu", "image_delay", "image", "enabled", "enables"];
        assert_eq!(nearest(written, known), expected, "{written:?}");
    }

    #[test]
    fn near_names_are_offered() {
        check("cuont", Some("count"));
        check("constrant", Some("constraint"));
        check("Network", Some("network"));
        check("cpus", Some("cpu"));
        check("image_dellay", Some("image_delay"));
        check("imag", Some("image"));
        check("enable", Some("enabled"));
        check("colour", None);
        check("", None);
        check(&"count".repeat(100), None);
    }
}
