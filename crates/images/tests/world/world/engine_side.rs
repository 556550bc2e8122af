//! The engine's side of the world: it works late, badly, or not at all.

use super::*;

impl World {
    /// Does what a request asks; the answer is that of an engine that has not been disturbed.
    pub(super) fn carry_out(&mut self, request: &Request, sent: u64) -> Event {
        self.note(|| format!("  engine does {request:?} sent at #{sent}"));
        let at = self.now;
        match request {
            Request::Look { look } => Event::Looked { look: *look, seen: self.engine.look() },
            Request::Pull { fetch, name } => match self.in_registry(name) {
                Some(id) if self.engine.is_too_full_for(id) => fetched(*fetch, Err(self.no_space(id))),
                Some(id) => {
                    self.engine.pull(at, name, id, Who::Ours);
                    fetched(*fetch, Ok(()))
                }
                None => fetched(*fetch, Err(failed(FailureKind::NotFound, "manifest unknown"))),
            },
            Request::Load { fetch, content, .. } if self.engine.is_too_full_for(*content) => {
                fetched(*fetch, Err(self.no_space(*content)))
            }
            Request::Load { fetch, name, content } => {
                self.engine.load(at, name, *content, Who::Ours);
                fetched(*fetch, Ok(()))
            }
            Request::Remove { act, name, .. } if self.refuses.as_ref() == Some(name) => {
                let answer = RemovalAnswer::Refused { message: "permission denied".to_owned() };
                Event::Removed { act: *act, answer }
            }
            Request::Remove { act, name, seen, .. } => {
                self.check_removal(name, *seen);
                let answer = self.engine.remove(at, name, Who::Ours, sent, *seen, &mut self.random);
                Event::Removed { act: *act, answer }
            }
            Request::Tag { act, name, content } => {
                let done = self.engine.tag(at, name, *content, Who::Ours);
                Event::Tagged { act: *act, answer: if done { TagAnswer::Done } else { TagAnswer::NotFound } }
            }
            Request::RemoveDead { act } => Event::DeadRemoved { act: *act, removed: self.remove_dead() },
        }
    }

    pub(super) fn in_registry(&self, name: &ImageRef) -> Option<ContentId> {
        if name.tag().is_some() {
            return self.registry.get(name).copied();
        }
        (1..=8).map(engine::content).find(|id| name.repository().is_some() && digest_name(name, *id) == *name)
    }

    /// The engine carries out one of the requests, in any order, well or badly.
    pub(super) fn engine_works(&mut self) {
        let open: Vec<_> = (0..self.sent.len()).filter(|at| self.sent[*at].answer.is_none()).collect();
        let Some(at) = self.random.pick(&open) else { return };
        let (request, since) = (self.sent[at].request.clone(), self.sent[at].sent);
        let bad = !self.calm && self.random.one_in(12);
        let answer = if !self.engine_up {
            lost_answer(&request)
        } else if bad {
            self.go_badly(&request, since)
        } else {
            self.carry_out(&request, since)
        };
        self.sent[at].snapshot = self.engine.seq;
        self.sent[at].answer = Some(answer);
    }

    pub(super) fn go_badly(&mut self, request: &Request, since: u64) -> Event {
        let Request::Look { look } = request else {
            let refused = self.random.one_in(4);
            if refused {
                if let Request::Remove { act, .. } = request {
                    let answer = RemovalAnswer::Refused { message: "permission denied".to_owned() };
                    return Event::Removed { act: *act, answer };
                }
                if let Request::Pull { fetch, .. } | Request::Load { fetch, .. } = request {
                    return fetched(*fetch, Err(failed(FailureKind::Unreachable, "connection refused")));
                }
            }
            let sent = Sent { request: request.clone(), sent: since, answer: None, snapshot: 0 };
            let late = self.random.one_in(2);
            self.abandon(sent, late);
            return lost_answer(request);
        };
        if self.random.one_in(2) {
            return Event::LookFailed { look: *look, message: "connection reset".to_owned() };
        }
        let mut seen = self.engine.look();
        make_unreadable(&mut seen, &mut self.random);
        Event::Looked { look: *look, seen }
    }

    /// One of the answers reaches the agent, in any order.
    pub(super) fn answer_arrives(&mut self) {
        let answered: Vec<_> = (0..self.sent.len()).filter(|at| self.sent[*at].answer.is_some()).collect();
        let Some(at) = self.random.pick(&answered) else { return };
        let sent = self.sent.swap_remove(at);
        if let Some(event) = sent.answer {
            self.oracle.answered(&sent.request, &event, sent.snapshot, &self.policy);
            self.feed(event);
        }
    }

    pub(super) fn event_arrives(&mut self) {
        let Some(told) = self.engine.events.pop_front() else { return };
        if !self.calm && self.random.one_in(30) {
            return;
        }
        self.oracle.event_delivered(&told);
        self.feed(Event::EngineSaw { at: Timestamp(told.at), news: told.news });
    }

    pub(super) fn engine_dies(&mut self) {
        self.note(|| "engine dies".to_owned());
        self.engine_up = false;
        self.engine.events.clear();
        for late in std::mem::take(&mut self.late) {
            if self.random.one_in(2) {
                self.carry_out(&late.request, late.sent);
            }
        }
        for at in 0..self.sent.len() {
            if self.sent[at].answer.is_none() {
                let (request, since) = (self.sent[at].request.clone(), self.sent[at].sent);
                if self.random.one_in(2) && !matches!(request, Request::Look { .. }) {
                    self.carry_out(&request, since);
                }
                self.sent[at].answer = Some(lost_answer(&request));
            }
        }
        self.engine.events.clear();
        self.feed(Event::EngineLost);
    }

    pub(super) fn engine_starts(&mut self) {
        self.note(|| "engine starts".to_owned());
        self.engine_up = true;
        self.engine.happen();
        if self.keeper.is_some() {
            self.feed(Event::EngineBack);
        }
    }
}
