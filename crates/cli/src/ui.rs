use std::borrow::Cow;
use std::io::{self, BufRead, IsTerminal, Write};

use chrono::Utc;
use longshore_values::printable;

use crate::view::{COLOURS, View, Zone};

/// Where a command reads and writes.
pub(crate) struct Ui {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// Standard output is a person's terminal.
    pub(crate) terminal: bool,
    pub(crate) colour: bool,
    /// Standard error is read by something else than a terminal: no colours there.
    plain_errors: bool,
    /// For times; tests use UTC.
    pub(crate) zone: Zone,
    /// Why something could not be written; a reader that went away is none.
    failed: Option<io::Error>,
}

impl Ui {
    /// The process's own streams. `no_colour` and `force_colour` are what flags and variables say.
    pub(crate) fn of_process(no_colour: bool, force_colour: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        Self {
            out: Box::new(io::stdout()),
            err: Box::new(io::stderr()),
            terminal,
            colour: force_colour || (terminal && !no_colour),
            plain_errors: !force_colour && !io::stderr().is_terminal(),
            zone: Zone::Local,
            failed: None,
        }
    }

    /// Streams that tests read back: standard output, and standard error.
    #[cfg(test)]
    pub(crate) fn captured() -> (Self, [crate::ui::Captured; 2]) {
        let (out, err) = (Captured::default(), Captured::default());
        let ui = Self {
            out: Box::new(out.clone()),
            err: Box::new(err.clone()),
            terminal: false,
            colour: false,
            plain_errors: false,
            zone: Zone::Utc,
            failed: None,
        };
        (ui, [out, err])
    }

    /// A line on standard output. What others than we put into it does nothing to a terminal.
    pub(crate) fn line(&mut self, text: &str) {
        let written = writeln!(self.out, "{}", shown(text));
        self.remember(written);
    }

    /// Whether what goes to standard error has colours.
    pub(crate) fn colour_of_errors(&self) -> bool {
        self.colour && !self.plain_errors
    }

    /// A line on standard error, red on a terminal.
    pub(crate) fn error(&mut self, text: &str) {
        let view = View { colour: self.colour_of_errors(), ..self.view(false) };
        let text = view.red(text);
        self.note(&text);
    }

    /// A line on standard error, in no colour of ours.
    pub(crate) fn note(&mut self, text: &str) {
        // Where it cannot be written, nothing about that could be either.
        let _ = writeln!(self.err, "{}", shown(text));
    }

    /// Bytes as they are, to standard output.
    ///
    /// # Errors
    /// When they cannot be written, or the reader went away: a stream then ends.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = self.out.write_all(bytes).and_then(|()| self.out.flush());
        let outcome = written.as_ref().map(|_| ()).map_err(|why| io::Error::from(why.kind()));
        self.remember(written);
        outcome
    }

    /// Draws on a terminal, from where its cursor stands: `begin` and `end` are for the terminal, `text` for people.
    pub(crate) fn draw(&mut self, begin: &str, text: &str, end: &str) {
        let written = write!(self.out, "{begin}{}{end}", shown(text)).and_then(|()| self.out.flush());
        self.remember(written);
    }

    /// What went wrong with the output so far.
    pub(crate) fn failed(&mut self) -> Option<io::Error> {
        let flushed = self.out.flush();
        self.remember(flushed);
        self.failed.take()
    }

    fn remember(&mut self, written: io::Result<()>) {
        if let Err(why) = written
            && why.kind() != io::ErrorKind::BrokenPipe
        {
            self.failed.get_or_insert(why);
        }
    }

    /// Bytes as they are, to standard error.
    ///
    /// # Errors
    /// As [`Ui::raw`].
    pub(crate) fn raw_error(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.err.write_all(bytes)?;
        self.err.flush()
    }

    /// Asks, and gives back the line that the person typed.
    pub(crate) fn ask(&mut self, question: &str) -> String {
        let _ = write!(self.out, "{question} ");
        let _ = self.out.flush();
        let mut answer = String::new();
        let _ = io::stdin().lock().read_line(&mut answer);
        answer.trim_end_matches(['\r', '\n']).to_owned()
    }

    /// How things are shown at this moment.
    pub(crate) fn view(&self, verbose: bool) -> View {
        let now = Utc::now().timestamp_nanos_opt().unwrap_or(0);
        View { now, zone: self.zone, verbose, colour: self.colour }
    }
}

/// A text in which nothing but our own colours acts on a terminal.
fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return printable(text);
    }
    let mut parts = text.split('\x1b');
    let mut safe = printable(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let colour = COLOURS.iter().find_map(|codes| part.strip_prefix('[')?.strip_prefix(codes)?.strip_prefix('m'));
        match colour {
            Some(rest) => {
                safe.push('\x1b');
                safe.push_str(&part[..part.len() - rest.len()]);
                safe.push_str(&printable(rest));
            }
            None => {
                safe.push_str("\\u{1b}");
                safe.push_str(&printable(part));
            }
        }
    }
    Cow::Owned(safe)
}

/// What a test's command has written so far.
#[cfg(test)]
#[derive(Debug, Clone, Default)]
pub(crate) struct Captured(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

#[cfg(test)]
impl Captured {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }
}

#[cfg(test)]
impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_colours_act_on_a_terminal() {
        let check = |text: &str, expected: &str| assert_eq!(shown(text), expected, "{text:?}");
        check("plain\n\u{1b}[1mbold\u{1b}[0m", "plain\n\u{1b}[1mbold\u{1b}[0m");
        check("a\u{1b}]0;owned\u{7}b", "a\\u{1b}]0;owned\\u{7}b");
        check("\u{1b}[2J\u{1b}[8mhidden", "\\u{1b}[2J\\u{1b}[8mhidden");
        check("\u{1b}\u{1b}[32mgreen\r", "\\u{1b}\u{1b}[32mgreen\\u{d}");
    }

    /// A disk that is full, or a reader that went away.
    struct Broken(io::ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn output_that_cannot_be_written_is_remembered_unless_nobody_reads_it() {
        for (kind, expected) in
            [(io::ErrorKind::StorageFull, Some(io::ErrorKind::StorageFull)), (io::ErrorKind::BrokenPipe, None)]
        {
            let (mut ui, _) = Ui::captured();
            ui.out = Box::new(Broken(kind));
            ui.line("one");
            assert_eq!(ui.raw(b"two").map_err(|why| why.kind()), Err(kind));
            assert_eq!(ui.failed().map(|why| why.kind()), expected);
        }
    }
}
