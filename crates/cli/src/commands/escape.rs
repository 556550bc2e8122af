/// Finds, in what is typed, the two keys that hang up: the escape character at the beginning of a line, and a dot. Typed
/// twice, the escape character is itself.
#[derive(Debug)]
pub(super) struct Escape {
    /// `None`: nothing hangs up.
    key: Option<u8>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    LineStart,
    /// The escape character came, and is held back.
    Held,
    Within,
}

impl Escape {
    pub(super) fn new(key: Option<u8>) -> Self {
        Self { key, state: State::LineStart }
    }

    /// What of `typed` goes on to the command, and whether it was hung up on behind that.
    pub(super) fn take(&mut self, typed: &[u8]) -> (Vec<u8>, bool) {
        let Some(key) = self.key else { return (typed.to_vec(), false) };
        let mut passed = Vec::with_capacity(typed.len() + 1);
        for &byte in typed {
            match self.state {
                State::LineStart if byte == key => {
                    self.state = State::Held;
                    continue;
                }
                State::Held if byte == b'.' => return (passed, true),
                State::Held if byte != key => passed.push(key),
                State::LineStart | State::Held | State::Within => {}
            }
            passed.push(byte);
            self.state = if matches!(byte, b'\r' | b'\n') { State::LineStart } else { State::Within };
        }
        (passed, false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(key: Option<u8>, typed: &[&str], passed: &str, hung_up: bool) {
        let mut escape = Escape::new(key);
        let (mut all, mut end) = (Vec::new(), false);
        for piece in typed {
            assert!(!end);
            let (passed, hung_up) = escape.take(piece.as_bytes());
            all.extend(passed);
            end = hung_up;
        }
        assert_eq!((String::from_utf8_lossy(&all).as_ref(), end), (passed, hung_up), "{typed:?}");
    }

    #[test]
    fn hangs_up_only_at_the_beginning_of_a_line() {
        let key = Some(b'~');
        check(key, &["~."], "", true);
        check(key, &["ls\r~."], "ls\r", true);
        check(key, &["ls\n", "~", "."], "ls\n", true);
        check(key, &["ls ~."], "ls ~.", false);
        check(key, &["~~."], "~.", false);
        check(key, &["~", "/x"], "~/x", false);
        check(key, &["~\r~."], "~\r", true);
        check(key, &["~"], "", false);
        check(None, &["~."], "~.", false);
        check(Some(b'#'), &["~.\r#."], "~.\r", true);
    }

    proptest! {
        #[test]
        fn cut_anywhere_it_is_the_same(typed in prop::collection::vec(prop::sample::select(b"~.\ra".to_vec()), 0..24), at in 0..24_usize) {
            let whole = Escape::new(Some(b'~')).take(&typed);
            let (first, second) = typed.split_at(at.min(typed.len()));
            let mut escape = Escape::new(Some(b'~'));
            let (mut passed, mut hung_up) = escape.take(first);
            if !hung_up {
                let (rest, end) = escape.take(second);
                passed.extend(rest);
                hung_up = end;
            }
            prop_assert_eq!((passed, hung_up), whole);
        }
    }
}
