use std::io::{self, BufRead, IsTerminal, Write};

use chrono::Utc;

use crate::view::{View, Zone};

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
        };
        (ui, [out, err])
    }

    /// A line on standard output. A reader that went away is no error worth telling anybody.
    pub(crate) fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    /// A line on standard error, red on a terminal.
    pub(crate) fn error(&mut self, text: &str) {
        let view = View { colour: self.colour && !self.plain_errors, ..self.view(false) };
        let text = view.red(text);
        let _ = writeln!(self.err, "{text}");
    }

    /// A line on standard error as it is.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.err, "{text}");
    }

    /// Bytes as they are, to standard output.
    ///
    /// # Errors
    /// When the reader went away: a stream then ends.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.flush()
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
