use std::collections::BTreeSet;

/// The known word that `word` was most likely meant to be.
pub fn nearest<'a>(word: &str, known: &'a BTreeSet<String>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    known
        .iter()
        .map(|candidate| (distance(word, candidate), candidate.as_str()))
        .filter(|(far, _)| *far <= allowed)
        .min()
        .map(|(_, candidate)| candidate)
}

/// How many single-character edits lie between the two.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    if a.chars().count() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(i + 1);
        let mut left = i + 1;
        for (to, pair) in b.iter().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            left = (diagonal + usize::from(from != *to)).min(above + 1).min(left + 1);
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let known = ["image_delay", "image", "container", "enabled"].map(str::to_owned).into();
        assert_eq!(nearest(word, &known), expected, "{word:?}");
    }

    #[test]
    fn finds_what_was_meant() {
        check("image_dellay", Some("image_delay"));
        check("imag", Some("image"));
        check("enable", Some("enabled"));
        check("contaner", Some("container"));
        check("purple", None);
        check("", None);
    }
}
