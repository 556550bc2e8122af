use longshore_model::Timestamp;

use super::Keeper;
use crate::{Notice, Pause, Row};

impl Keeper {
    /// The pause that holds, if there is one: nothing is removed until its end, for any reason.
    pub fn paused(&self) -> Option<&Pause> {
        self.books.pause()
    }

    pub(super) fn pause(&mut self, pause: Pause) {
        self.row(Row::Paused);
        self.tell(Notice::Paused(pause.clone()));
        self.books.set_pause(Some(pause));
        self.call_off_removals(|_| true);
    }

    pub(super) fn resume(&mut self, who: &str) {
        if self.books.pause().is_some() {
            self.tell(Notice::Resumed { by: Some(who.to_owned()) });
            self.books.set_pause(None);
        }
    }

    /// The end comes by itself; a clock that steps back does not make the pause longer than it was meant to be.
    pub(super) fn pass_pause(&mut self) {
        let Some(pause) = self.books.pause() else { return };
        if pause.until <= self.now {
            self.row(Row::PauseOver);
            self.tell(Notice::Resumed { by: None });
            self.books.set_pause(None);
        } else if pause.at > self.now {
            let until = self.now.plus(pause.until.since(pause.at));
            let pause = Pause { at: self.now, until, who: pause.who.clone() };
            self.books.set_pause(Some(pause));
        }
    }

    pub(super) fn pause_ends_at(&self) -> Option<Timestamp> {
        self.books.pause().map(|pause| pause.until)
    }
}
