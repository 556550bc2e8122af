use std::collections::BTreeMap;

use longshore_model::{AllocId, ContentId, ImageRef, Provenance, Timestamp};
use longshore_values::{Glob, GoDuration};

use super::Keeper;
use crate::*;

mod space;

const DELAY: i64 = 180;

/// A keeper beside a small engine that the test changes by hand; looks are answered at once.
struct Rig {
    keeper: Keeper,
    policy: Policy,
    now: i64,
    images: BTreeMap<ContentId, Vec<ImageRef>>,
    containers: Vec<ContainerSeen>,
    unreadable: bool,
    room: Room,
    ledger: BTreeMap<String, Entry>,
    /// What the keeper ordered, looks and wishes to wake left out.
    acts: Vec<Action>,
}

fn name(text: &str) -> ImageRef {
    text.parse().unwrap()
}

fn content(n: u8) -> ContentId {
    ContentId::from_bytes([n; 32])
}

fn digest(n: u8) -> ImageRef {
    name(&format!("reg.test/a@sha256:{}", format!("{n:02x}").repeat(32)))
}

fn task(n: u128) -> Owner {
    Owner::task(AllocId::from_u128(n), "web")
}

impl Rig {
    fn new() -> Self {
        Self::with(Policy::default())
    }

    fn with(policy: Policy) -> Self {
        let keeper = Keeper::restore(policy.clone(), Vec::new(), Timestamp::from_seconds(1_000));
        let mut rig = Self {
            keeper,
            policy,
            now: 1_000,
            images: BTreeMap::new(),
            containers: Vec::new(),
            unreadable: false,
            room: Room::default(),
            ledger: BTreeMap::new(),
            acts: Vec::new(),
        };
        rig.recover(&[]);
        rig
    }

    fn recover(&mut self, live: &[Owner]) {
        self.feed(Event::EngineBack);
        self.feed(Event::Restored { live: live.to_vec(), ended: Vec::new() });
    }

    /// The agent ends and starts again with what is on disk.
    fn restart(&mut self) {
        let entries = self.ledger.values().map(|entry| Entry::from_text(&entry.to_text().unwrap()).unwrap()).collect();
        self.keeper = Keeper::restore(self.policy.clone(), entries, Timestamp::from_seconds(self.now));
        self.acts.clear();
    }

    fn feed(&mut self, event: Event) {
        let step = self.keeper.step(Timestamp::from_seconds(self.now), event);
        for record in step.records {
            match record.entry {
                Some(entry) => self.ledger.insert(record.key, entry),
                None => self.ledger.remove(&record.key),
            };
        }
        let mut looks = Vec::new();
        for action in step.actions {
            match action {
                Action::Look { look } => looks.push(look),
                Action::WakeAt(_) => {}
                action => self.acts.push(action),
            }
        }
        assert_eq!(self.keeper.breaches(), []);
        for look in looks {
            let seen = self.seen();
            self.feed(Event::Looked { look, seen });
        }
    }

    fn seen(&self) -> Seen {
        let images = self.images.iter().map(|(id, names)| ImageSeen {
            id: *id,
            names: names.clone(),
            size_bytes: 7,
            platform: None,
            parent: None,
        });
        let unreadable = if self.unreadable { vec!["one entry".to_owned()] } else { Vec::new() };
        Seen { images: images.collect(), containers: self.containers.clone(), unreadable, room: self.room.clone() }
    }

    fn put(&mut self, n: u8, names: &[ImageRef]) {
        self.images.insert(content(n), names.to_vec());
    }

    fn see(&mut self, news: EngineNews) {
        self.feed(Event::EngineSaw { at: Timestamp::NEVER, news });
    }

    fn wait(&mut self, seconds: i64) {
        self.now += seconds;
        self.feed(Event::Tick);
    }

    fn accept(&mut self, owner: &Owner, image: &str, replaces: Option<u128>) {
        let needs = vec![Need { owner: owner.clone(), name: name(image) }];
        let alloc = owner.alloc().unwrap();
        self.feed(Event::Accepted { alloc, needs, replaces: replaces.map(AllocId::from_u128) });
    }

    fn want(&mut self, owner: &Owner, image: &str, fresh: bool) {
        let (owner, name, access) = (owner.clone(), name(image), String::new());
        self.feed(Event::Wanted(Want { owner, name, fresh, local_copy: false, access, platform: None, archive: None }));
    }

    fn end(&mut self, owner: &Owner) {
        self.feed(Event::Ended { owner: owner.clone(), at: Timestamp::from_seconds(self.now) });
    }

    fn fetch(&mut self) -> FetchId {
        self.take(|action| match action {
            Action::Pull { fetch, .. } => Some(*fetch),
            _ => None,
        })
    }

    /// The pull that was ordered last brings this content under these names.
    fn pulled(&mut self, n: u8, names: &[ImageRef]) {
        let fetch = self.fetch();
        self.put(n, names);
        self.feed(Event::Fetched { fetch, result: Ok(()) });
    }

    fn fails(&mut self, fetch: FetchId, kind: FailureKind) {
        let failure = FetchFailure { kind, message: "it did not come".to_owned(), needed_bytes: None };
        self.feed(Event::Fetched { fetch, result: Err(failure) });
    }

    /// Task 1 has pulled the image, as content 1, and runs.
    fn running(image: &str) -> Self {
        let mut rig = Self::new();
        rig.accept(&task(1), image, None);
        rig.want(&task(1), image, false);
        rig.pulled(1, &[name(image), digest(1)]);
        rig.acts.clear();
        rig
    }

    /// The same, ended, and its delay has passed: the removal has been ordered.
    fn removing(image: &str) -> (Self, ActId) {
        let mut rig = Self::running(image);
        rig.end(&task(1));
        rig.wait(DELAY);
        let act = rig.removal_of(&name(image));
        (rig, act)
    }

    #[track_caller]
    fn take<T>(&mut self, which: impl Fn(&Action) -> Option<T>) -> T {
        let acts = std::mem::take(&mut self.acts);
        acts.iter().rev().find_map(which).unwrap_or_else(|| panic!("not among {acts:?}"))
    }

    #[track_caller]
    fn removal_of(&mut self, wanted: &ImageRef) -> ActId {
        self.take(|action| match action {
            Action::RemoveName { act, name, .. } if name == wanted => Some(*act),
            _ => None,
        })
    }

    fn removed(&mut self, act: ActId, answer: RemovalAnswer) {
        self.feed(Event::Removed { act, answer });
    }

    fn removes_anything(&self) -> bool {
        self.acts.iter().any(|action| matches!(action, Action::RemoveName { .. } | Action::Tag { .. }))
    }

    fn granted(&self, owner: &Owner) -> Option<ContentId> {
        self.acts.iter().find_map(|action| match action {
            Action::Grant { owner: to, content, .. } if to == owner => Some(*content),
            _ => None,
        })
    }

    fn pulls(&self) -> usize {
        self.acts.iter().filter(|action| matches!(action, Action::Pull { .. })).count()
    }

    #[track_caller]
    fn status(&self, image: &str) -> ImageStatus {
        let all = self.keeper.status();
        all.iter().find(|status| status.name == Some(name(image))).cloned().unwrap_or_else(|| panic!("not in {all:?}"))
    }

    fn has_told(&self, which: impl Fn(&Notice) -> bool) -> bool {
        self.acts.iter().any(|action| matches!(action, Action::Tell(notice) if which(notice)))
    }
}

#[test]
fn an_image_is_pulled_held_and_removed_when_its_time_has_come() {
    let mut rig = Rig::new();
    rig.accept(&task(1), "redis:7", None);
    assert_eq!(rig.status("redis:7").state, StateWord::Absent);
    rig.want(&task(1), "redis:7", false);
    assert_eq!(rig.status("redis:7").state, StateWord::Pulling);
    rig.pulled(1, &[name("redis:7")]);
    assert_eq!(rig.granted(&task(1)), Some(content(1)));
    let status = rig.status("redis:7");
    assert_eq!((status.state, status.provenance, status.holds), (StateWord::Held, Provenance::Obtained, 1));

    rig.end(&task(1));
    let status = rig.status("redis:7");
    assert_eq!(status.state, StateWord::Idle);
    assert_eq!(status.due_at.unwrap().since(status.idle_since.unwrap()), GoDuration::seconds(DELAY));
    rig.wait(DELAY - 1);
    assert!(!rig.removes_anything());
    rig.wait(1);
    let act = rig.removal_of(&name("redis:7"));
    rig.images.clear();
    rig.removed(act, RemovalAnswer::Done { untagged: vec![name("redis:7")], deleted: vec![content(1)] });
    let freed = RemovalOutcome::Removed { freed_bytes: 7 };
    assert!(rig.has_told(|notice| matches!(notice, Notice::Removal { outcome, .. } if *outcome == freed)));
    assert_eq!(rig.keeper.status(), []);
    let left: Vec<_> = rig.ledger.values().filter(|entry| !matches!(entry, Entry::Story(_))).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn what_was_there_before_is_foreign_and_stays() {
    let mut rig = Rig::new();
    rig.put(1, &[name("redis:7")]);
    rig.want(&task(1), "redis:7", false);
    assert_eq!((rig.granted(&task(1)), rig.pulls()), (Some(content(1)), 0));
    rig.end(&task(1));
    rig.wait(10 * DELAY);
    assert!(!rig.removes_anything());
    assert_eq!(rig.status("redis:7").why, "others brought it");
}

#[test]
fn one_pull_serves_all_who_ask_and_the_last_one_to_leave_cancels_it() {
    let cancels = |rig: &Rig| rig.acts.iter().any(|action| matches!(action, Action::CancelFetch { .. }));
    let mut rig = Rig::new();
    rig.want(&task(1), "redis:7", false);
    rig.want(&task(2), "redis:7", false);
    assert_eq!(rig.pulls(), 1);
    rig.feed(Event::GaveUp { owner: task(1) });
    assert!(!cancels(&rig));
    rig.feed(Event::GaveUp { owner: task(2) });
    assert!(cancels(&rig));
    assert_eq!(rig.status("redis:7").holds, 2);
}

#[test]
fn who_asks_for_fresh_content_joins_no_pull_that_began_before() {
    let mut rig = Rig::new();
    rig.want(&task(1), "redis:7", false);
    rig.want(&task(2), "redis:7", true);
    assert_eq!(rig.pulls(), 1);
    rig.pulled(1, &[name("redis:7")]);
    assert_eq!((rig.granted(&task(1)), rig.granted(&task(2)), rig.pulls()), (Some(content(1)), None, 1));
    rig.pulled(1, &[name("redis:7")]);
    assert_eq!(rig.granted(&task(2)), Some(content(1)));
}

#[test]
fn what_a_cancelled_pull_brings_all_the_same_goes_after_the_delay() {
    let mut rig = Rig::new();
    rig.want(&task(1), "redis:7", false);
    let fetch = rig.fetch();
    rig.end(&task(1));
    rig.fails(fetch, FailureKind::Cancelled);
    rig.put(1, &[name("redis:7")]);
    rig.see(EngineNews::Pulled { name: name("redis:7") });
    assert_eq!(rig.status("redis:7").state, StateWord::Idle);
    rig.wait(DELAY);
    rig.removal_of(&name("redis:7"));
}

#[test]
fn a_lost_pull_is_still_ours_when_a_later_one_has_ended_well() {
    let mut rig = Rig::new();
    rig.want(&task(1), "redis:7", true);
    let lost = rig.fetch();
    rig.fails(lost, FailureKind::EngineLost);
    rig.want(&task(1), "redis:7", true);
    rig.pulled(1, &[name("redis:7")]);
    rig.put(1, &[]);
    rig.put(2, &[name("redis:7")]);
    rig.see(EngineNews::ImagesChanged);
    assert_eq!(rig.status("redis:7").provenance, Provenance::Obtained);
}

/// Engines give the digest name before the tag: killed between the two they leave it alone.
#[test]
fn a_digest_name_that_a_cut_off_pull_left_goes_with_the_tag_of_the_next() {
    for known_before in [false, true] {
        let mut rig = Rig::new();
        let before = if known_before { vec![name("other:1"), digest(1)] } else { vec![name("other:1")] };
        rig.put(1, &before);
        rig.see(EngineNews::ImagesChanged);
        rig.accept(&task(1), "reg.test/a:1", None);
        rig.want(&task(1), "reg.test/a:1", false);
        let fetch = rig.fetch();
        rig.put(1, &[name("other:1"), digest(1)]);
        rig.fails(fetch, FailureKind::EngineLost);
        rig.want(&task(1), "reg.test/a:1", false);
        rig.pulled(1, &[name("other:1"), digest(1), name("reg.test/a:1")]);
        rig.end(&task(1));
        rig.wait(DELAY);
        // Somebody's own digest name would go with the tag.
        assert_eq!(rig.removes_anything(), !known_before);
    }
}

#[test]
fn one_look_is_out_at_a_time() {
    let mut keeper = Keeper::restore(Policy::default(), Vec::new(), Timestamp::from_seconds(1));
    let mut looks = |event| {
        let step = keeper.step(Timestamp::from_seconds(1), event);
        step.actions
            .into_iter()
            .filter_map(|action| match action {
                Action::Look { look } => Some(look),
                _ => None,
            })
            .collect::<Vec<_>>()
    };
    let first = looks(Event::EngineBack);
    assert_eq!(first.len(), 1);
    let saw = || Event::EngineSaw { at: Timestamp::NEVER, news: EngineNews::ImagesChanged };
    assert_eq!((looks(saw()), looks(saw())), (vec![], vec![]));
    let second = looks(Event::Looked { look: first[0], seen: Seen::default() });
    assert!(second.len() == 1 && second[0] > first[0], "one look answers all that was asked meanwhile");
    assert_eq!(looks(Event::Looked { look: second[0], seen: Seen::default() }), []);
}

#[test]
fn a_replacement_keeps_the_image_without_any_delay() {
    let mut rig = Rig::with(Policy { image_delay: GoDuration::ZERO, ..Policy::default() });
    rig.accept(&task(1), "redis:7", None);
    rig.want(&task(1), "redis:7", false);
    rig.pulled(1, &[name("redis:7")]);
    for n in 2..12 {
        rig.accept(&task(n), "redis:7", Some(n - 1));
        rig.end(&task(n - 1));
        rig.want(&task(n), "redis:7", false);
        assert_eq!((rig.granted(&task(n)), rig.pulls()), (Some(content(1)), 0));
        assert!(!rig.removes_anything());
        assert_eq!(rig.status("redis:7").holds, 1);
    }
    rig.end(&task(11));
    rig.removal_of(&name("redis:7"));
}

#[test]
fn a_predecessor_lets_go_only_when_its_successor_has_its_image_or_has_ended() {
    for successor_ends in [true, false] {
        let mut rig = Rig::running("redis:7");
        rig.accept(&task(2), "redis:8", Some(1));
        rig.end(&task(1));
        assert_eq!(rig.status("redis:7").holds, 1, "lingers");
        if successor_ends {
            rig.end(&task(2));
        } else {
            rig.want(&task(2), "redis:8", false);
            rig.pulled(2, &[name("redis:8")]);
        }
        assert_eq!(rig.status("redis:7").state, StateWord::Idle);
    }
}

#[test]
fn a_moved_tag_leaves_content_that_goes_under_a_private_name_last() {
    let mut rig = Rig::running("reg.test/a:1");
    rig.want(&task(2), "reg.test/a:1", true);
    rig.put(1, &[digest(1)]);
    rig.pulled(2, &[name("reg.test/a:1"), digest(2)]);
    rig.end(&task(1));
    rig.wait(DELAY);
    let private = private_name(content(1));
    let act = rig.take(|action| match action {
        Action::Tag { act, name, .. } if *name == private => Some(*act),
        _ => None,
    });
    rig.put(1, &[digest(1), private.clone()]);
    rig.feed(Event::Tagged { act, answer: TagAnswer::Done });
    let act = rig.removal_of(&digest(1));
    rig.put(1, std::slice::from_ref(&private));
    rig.removed(act, RemovalAnswer::Done { untagged: vec![digest(1)], deleted: Vec::new() });
    let act = rig.removal_of(&private);
    rig.images.remove(&content(1));
    rig.removed(act, RemovalAnswer::Done { untagged: vec![private], deleted: vec![content(1)] });
    assert!(!rig.ledger.contains_key(&format!("content {}", content(1))));
    assert_eq!(rig.status("reg.test/a:1").state, StateWord::Held);
}

#[test]
fn a_pull_that_moves_what_others_brought_leaves_their_content_alone() {
    let mut rig = Rig::new();
    rig.put(1, &[name("redis:7")]);
    rig.want(&task(1), "redis:7", true);
    rig.put(1, &[]);
    rig.pulled(2, &[name("redis:7")]);
    assert!(rig.has_told(|notice| matches!(notice, Notice::MovedForeign { .. })));
    assert!(rig.has_told(|notice| matches!(notice, Notice::LeftNameless { .. })));
    rig.end(&task(1));
    rig.wait(DELAY);
    rig.removal_of(&name("redis:7"));
    assert!(rig.keeper.status().iter().any(|s| s.content == Some(content(1)) && s.why.contains("not ours to remove")));
}

#[test]
fn a_refusal_is_tried_again_after_twice_as_long_each_time() {
    let (mut rig, mut act) = Rig::removing("redis:7");
    for seconds in [5, 10, 20, 40, 80, 160, 300, 300] {
        rig.removed(act, RemovalAnswer::InUse { message: "in use".to_owned() });
        rig.wait(seconds - 1);
        assert!(!rig.removes_anything(), "{seconds} s");
        rig.wait(1);
        act = rig.removal_of(&name("redis:7"));
    }
}

#[test]
fn gone_already_is_done() {
    let (mut rig, act) = Rig::removing("redis:7");
    rig.images.clear();
    rig.removed(act, RemovalAnswer::NotFound);
    assert_eq!(rig.keeper.status(), []);
}

#[test]
fn a_lost_answer_is_looked_at_and_nothing_is_handed_out_meanwhile() {
    let (mut rig, act) = Rig::removing("redis:7");
    rig.removed(act, RemovalAnswer::Lost { message: "time limit".to_owned() });
    rig.want(&task(2), "redis:7", false);
    rig.wait(4);
    assert_eq!((rig.status("redis:7").state, rig.granted(&task(2))), (StateWord::Unsure, None));
    rig.wait(1);
    assert_eq!(rig.granted(&task(2)), Some(content(1)));
    assert!(!rig.removes_anything());
}

#[test]
fn who_wants_what_is_being_removed_waits_for_the_outcome() {
    let (mut rig, act) = Rig::removing("redis:7");
    rig.want(&task(2), "redis:7", false);
    assert_eq!((rig.granted(&task(2)), rig.pulls()), (None, 0));
    rig.images.clear();
    rig.removed(act, RemovalAnswer::Done { untagged: vec![name("redis:7")], deleted: vec![content(1)] });
    assert_eq!(rig.pulls(), 1);
}

#[test]
fn an_answer_that_took_more_than_was_meant_is_an_alarm() {
    let (mut rig, act) = Rig::removing("redis:7");
    rig.images.clear();
    let (untagged, more) = (vec![name("redis:7"), name("mine:1")], vec![name("mine:1")]);
    rig.removed(act, RemovalAnswer::Done { untagged, deleted: vec![content(1)] });
    assert!(rig.has_told(|notice| matches!(notice, Notice::UnexpectedRemoval { untagged, .. } if *untagged == more)));
}

#[test]
fn what_others_do_with_a_name_makes_it_theirs() {
    let cases: [fn(&mut Rig); 3] = [
        |rig| {
            rig.images.clear();
            rig.put(2, &[name("redis:7")]);
            rig.see(EngineNews::ImagesChanged);
        },
        |rig| rig.see(EngineNews::Tagged { name: name("redis:7"), content: content(1) }),
        |rig| {
            // The first is the event of our own pull.
            rig.see(EngineNews::Pulled { name: name("redis:7") });
            assert_eq!(rig.status("redis:7").provenance, Provenance::Obtained);
            rig.see(EngineNews::Pulled { name: name("redis:7") });
        },
    ];
    for others_act in cases {
        let mut rig = Rig::running("redis:7");
        others_act(&mut rig);
        rig.end(&task(1));
        rig.wait(10 * DELAY);
        assert!(!rig.removes_anything());
        assert_eq!(rig.status("redis:7").provenance, Provenance::Foreign);
    }
}

#[test]
fn what_others_removed_is_pulled_again_by_the_next_start() {
    let mut rig = Rig::running("redis:7");
    rig.images.clear();
    rig.see(EngineNews::ImagesChanged);
    assert!(rig.has_told(|notice| matches!(notice, Notice::RemovedByOthers { .. })));
    assert_eq!((rig.status("redis:7").state, rig.status("redis:7").holds), (StateWord::Absent, 1));
    rig.want(&task(1), "redis:7", false);
    assert_eq!(rig.pulls(), 1);
}

#[test]
fn containers_of_anybody_keep_what_they_were_made_from() {
    let container = |made_from: Option<&str>| {
        let made_from = made_from.map(name);
        ContainerSeen { id: "c1".to_owned(), content: content(1), made_from, owner: None }
    };
    for made_from in [Some("redis:7"), None] {
        let mut rig = Rig::running("redis:7");
        rig.containers.push(container(made_from));
        rig.end(&task(1));
        rig.see(EngineNews::ContainersChanged);
        rig.wait(10 * DELAY);
        assert!(!rig.removes_anything());
        assert_eq!(rig.status("redis:7").why, "container c1");
        rig.containers.clear();
        rig.see(EngineNews::ContainersChanged);
        assert_eq!(rig.status("redis:7").state, StateWord::Idle);
    }
    let mut rig = Rig::running("redis:7");
    rig.put(1, &[name("redis:7"), name("mine:1")]);
    rig.containers.push(container(Some("mine:1")));
    rig.end(&task(1));
    rig.wait(DELAY);
    rig.removal_of(&name("redis:7"));
}

#[test]
fn the_last_tag_of_a_repository_stays_while_a_digest_name_of_it_is_held() {
    let mut rig = Rig::running("reg.test/a:1");
    rig.want(&task(2), digest(1).full(), false);
    assert_eq!(rig.granted(&task(2)), Some(content(1)));
    rig.end(&task(1));
    rig.wait(10 * DELAY);
    assert!(!rig.removes_anything());
    rig.end(&task(2));
    rig.wait(DELAY);
    rig.removal_of(&name("reg.test/a:1"));
}

#[test]
fn unknown_is_not_no() {
    let mut rig = Rig::running("redis:7");
    rig.end(&task(1));
    rig.unreadable = true;
    rig.images.clear();
    rig.see(EngineNews::ImagesChanged);
    assert_eq!(rig.status("redis:7").state, StateWord::Idle, "missing in a look that could not read everything");
    assert!(rig.has_told(|notice| matches!(notice, Notice::CannotSee { .. })));
}

#[test]
fn settings_and_people_decide_what_may_go() {
    let mut rig = Rig::running("redis:7");
    rig.feed(Event::PolicyChanged(Policy { image: false, ..Policy::default() }));
    rig.end(&task(1));
    rig.wait(10 * DELAY);
    assert!(!rig.removes_anything());
    let status = rig.status("redis:7");
    assert_eq!((status.due_at, status.why.as_str()), (None, "gc.image is false"));
    rig.feed(Event::CollectNow);
    rig.removal_of(&name("redis:7"));

    let mut rig = Rig::running("redis:7");
    let pin = Pin { pattern: "redis:*".to_owned(), who: "root".to_owned(), at: Timestamp::NEVER };
    rig.feed(Event::Pinned(pin));
    rig.end(&task(1));
    rig.wait(10 * DELAY);
    assert_eq!(rig.status("redis:7").why, "pinned by `redis:*`");
    rig.feed(Event::PolicyChanged(Policy { keep: vec![Glob::new("docker.io/*")], ..Policy::default() }));
    rig.feed(Event::Unpinned { pattern: "redis:*".to_owned() });
    assert_eq!(rig.status("redis:7").why, "gc.keep has `docker.io/*`");
    assert!(!rig.removes_anything());
    rig.feed(Event::PolicyChanged(Policy::default()));
    rig.wait(DELAY);
    rig.removal_of(&name("redis:7"));

    let mut rig = Rig::running("redis:7");
    rig.end(&task(1));
    rig.feed(Event::PolicyChanged(Policy { kept_by_others: true, ..Policy::default() }));
    rig.wait(10 * DELAY);
    assert!(!rig.removes_anything());
    assert_eq!(rig.status("redis:7").why, "another agent keeps this engine's images");
}

#[test]
fn nothing_is_removed_before_everything_has_been_compared() {
    let mut rig = Rig::running("redis:7");
    let ended_at = Timestamp::from_seconds(rig.now);
    rig.now += 2 * DELAY;
    rig.restart();
    rig.feed(Event::EngineBack);
    rig.wait(60);
    assert!(!rig.removes_anything());
    rig.feed(Event::Restored { live: Vec::new(), ended: vec![(task(1), ended_at)] });
    rig.removal_of(&name("redis:7"));
}

#[test]
fn a_hold_whose_owner_nobody_knows_is_dropped_and_said() {
    let mut rig = Rig::running("redis:7");
    rig.restart();
    rig.recover(&[]);
    assert!(rig.has_told(|notice| matches!(notice, Notice::HoldDropped { before: 1, after: 0, .. })));
    assert_eq!(rig.status("redis:7").state, StateWord::Idle);
}

#[test]
fn a_removal_that_was_under_way_at_a_crash_is_not_repeated_blindly() {
    let (mut rig, _) = Rig::removing("redis:7");
    rig.restart();
    rig.recover(&[task(2)]);
    rig.want(&task(2), "redis:7", false);
    rig.wait(5);
    assert!(!rig.removes_anything());
    assert_eq!(rig.granted(&task(2)), Some(content(1)));
}

#[test]
fn a_pull_that_was_under_way_at_a_crash_is_ours_by_its_intent() {
    let mut rig = Rig::new();
    rig.want(&task(1), "redis:7", false);
    rig.restart();
    rig.put(1, &[name("redis:7")]);
    rig.recover(&[task(1)]);
    assert_eq!(rig.status("redis:7").provenance, Provenance::Obtained);
}

/// The engine stores the content of a pull before it gives it the name, and may be cut off in between.
#[test]
fn what_a_cut_off_pull_left_without_a_name_is_ours_when_the_next_one_names_it() {
    for foreign in [false, true] {
        let mut rig = Rig::new();
        if foreign {
            rig.put(1, &[]);
            rig.see(EngineNews::ImagesChanged);
        }
        rig.want(&task(1), "redis:7", false);
        rig.restart();
        rig.put(1, &[]);
        rig.recover(&[task(1)]);
        rig.want(&task(1), "redis:7", false);
        rig.pulled(1, &[name("redis:7")]);
        // The tag moves on: content that is ours goes once it has no name.
        rig.put(1, &[]);
        rig.put(2, &[name("redis:7")]);
        rig.see(EngineNews::ImagesChanged);
        let is_ours = |it: &ImageStatus| it.content == Some(content(1)) && it.provenance == Provenance::Obtained;
        let ours = rig.keeper.status().iter().any(is_ours);
        assert_eq!(ours, !foreign, "foreign: {foreign}");
    }
}

#[test]
fn an_owner_keeps_what_it_had_until_its_new_container_exists() {
    let mut rig = Rig::running("redis:7");
    rig.want(&task(1), "redis:8", false);
    rig.pulled(2, &[name("redis:8")]);
    assert_eq!((rig.status("redis:7").holds, rig.status("redis:8").holds), (1, 1));
    rig.feed(Event::ContainerMade { owner: task(1), name: name("redis:8"), content: content(2) });
    assert_eq!((rig.status("redis:7").state, rig.status("redis:8").holds), (StateWord::Idle, 1));
}

#[test]
fn holds_are_taken_once_and_given_back_once() {
    let mut rig = Rig::running("redis:7");
    for n in 1..=4 {
        rig.accept(&task(n), "redis:7", None);
        rig.accept(&task(n), "redis:7", None);
    }
    assert_eq!(rig.status("redis:7").holds, 4);
    for n in 1..=4_u8 {
        rig.acts.clear();
        rig.end(&task(n.into()));
        let counts = (5 - usize::from(n), 4 - usize::from(n));
        assert_eq!(rig.status("redis:7").holds, counts.1);
        let is_it = |notice: &Notice| matches!(notice, Notice::HoldReturned { before, after, .. } if (*before, *after) == counts);
        assert!(rig.has_told(is_it));
    }
    rig.end(&task(4));
    assert!(rig.has_told(|notice| matches!(notice, Notice::ReleaseWithoutHold { .. })));
}

#[test]
fn a_clock_that_steps_back_makes_nothing_wait_longer_than_the_delay() {
    let mut rig = Rig::running("redis:7");
    rig.end(&task(1));
    rig.wait(-500);
    assert_eq!(rig.status("redis:7").due_at, Some(Timestamp::from_seconds(rig.now + DELAY)));
    rig.wait(DELAY);
    rig.removal_of(&name("redis:7"));
}

#[test]
fn what_cannot_be_had_is_refused_with_the_reason() {
    let mut rig = Rig::new();
    rig.want(&task(1), &content(9).to_string(), false);
    assert!(matches!(rig.acts.last(), Some(Action::Refuse { why: Refusal::NoSuchId { .. }, .. })));
    rig.want(&task(2), "redis:none", false);
    let fetch = rig.fetch();
    rig.fails(fetch, FailureKind::NotFound);
    assert!(matches!(rig.acts.last(), Some(Action::Refuse { why: Refusal::Fetch(_), .. })));
}

#[test]
fn stored_entries_of_a_newer_version_are_refused() {
    let rig = Rig::running("redis:7");
    for entry in rig.ledger.values() {
        let text = entry.to_text().unwrap();
        assert_eq!(Entry::from_text(&text).unwrap(), *entry);
        let newer = text.replace("\"format\":2", "\"format\":3");
        assert!(matches!(Entry::from_text(&newer), Err(BadEntry::Newer { found: 3 })));
    }
    assert!(matches!(Entry::from_text("{"), Err(BadEntry::Form(_))));
}

#[test]
fn a_digest_name_that_came_with_a_tag_of_ours_is_told_with_it() {
    let mut rig = Rig::new();
    let (tag, by_digest) = (name("reg.test/a:1"), digest(1));
    rig.accept(&task(1), "reg.test/a:1", None);
    rig.want(&task(1), "reg.test/a:1", false);
    assert_eq!(rig.status("reg.test/a:1").provenance, Provenance::Absent);
    rig.pulled(1, &[tag.clone(), by_digest.clone()]);
    let names: Vec<_> = rig.keeper.status().into_iter().filter_map(|image| image.name).collect();
    assert_eq!(names, std::slice::from_ref(&tag));
    let explained = rig.keeper.explain(&by_digest).unwrap();
    assert_eq!((explained.goes_with, explained.status.provenance), (Some(tag.clone()), Provenance::Obtained));
    assert_eq!(explained.status.why, "it goes with reg.test/a:1");
    // Beside a tag of others it goes with neither.
    let theirs = name("reg.test/a:theirs");
    rig.put(1, &[tag.clone(), by_digest.clone(), theirs.clone()]);
    rig.see(EngineNews::ImagesChanged);
    let names: Vec<_> = rig.keeper.status().into_iter().filter_map(|image| image.name).collect();
    assert_eq!(names, [tag, theirs, by_digest]);
}

#[test]
fn the_last_failure_of_a_pull_is_remembered_until_one_ends_well() {
    let mut rig = Rig::new();
    let tag = name("reg.test/a:1");
    rig.accept(&task(1), "reg.test/a:1", None);
    for times in 1..=2 {
        rig.want(&task(1), "reg.test/a:1", false);
        let fetch = rig.fetch();
        rig.fails(fetch, FailureKind::Denied);
        let last = rig.keeper.explain(&tag).unwrap().last_failure.unwrap();
        assert_eq!((last.failure.kind, last.times), (FailureKind::Denied, times));
    }
    let why = "not on the engine, wanted by 1; the last pull failed (access denied)";
    assert_eq!(rig.status("reg.test/a:1").why, why);
    rig.end(&task(1));
    assert!(rig.keeper.explain(&tag).unwrap().last_failure.is_some(), "also when nobody needs it any more");
    rig.want(&task(2), "reg.test/a:1", false);
    rig.pulled(1, std::slice::from_ref(&tag));
    assert_eq!(rig.keeper.explain(&tag).unwrap().last_failure, None);
}

#[test]
fn a_pull_that_died_with_the_engine_is_begun_anew_by_the_next_one_a_few_times() {
    let mut rig = Rig::new();
    rig.accept(&task(1), "reg.test/a:1", None);
    rig.want(&task(1), "reg.test/a:1", false);
    for _ in 0..2 {
        let fetch = rig.fetch();
        rig.feed(Event::EngineLost);
        rig.fails(fetch, FailureKind::EngineLost);
        assert_eq!(rig.pulls(), 0, "an engine that is away is asked for nothing");
        rig.feed(Event::EngineBack);
        assert_eq!(rig.pulls(), 1);
    }
    let fetch = rig.fetch();
    rig.fails(fetch, FailureKind::EngineLost);
    let refused = |action: &Action| matches!(action, Action::Refuse { .. }).then_some(());
    rig.take(refused);
}

#[test]
fn what_a_person_asked_for_is_held_for_a_while_whatever_servers_wish() {
    let mut rig = Rig::new();
    let (tag, owner) = (name("reg.test/a:1"), Owner::Asked { name: "reg.test/a:1".to_owned() });
    let expires_at = Timestamp::from_seconds(4_600);
    rig.feed(Event::Wished { owner: owner.clone(), name: tag.clone(), expires_at });
    rig.want(&owner, "reg.test/a:1", false);
    rig.pulled(1, std::slice::from_ref(&tag));
    assert_eq!(rig.granted(&owner), Some(content(1)));
    rig.feed(Event::StillWished { owners: Vec::new() });
    rig.restart();
    rig.recover(&[]);
    assert_eq!(rig.status("reg.test/a:1").state, StateWord::Held);
    rig.wait(3_600);
    assert_eq!(rig.status("reg.test/a:1").idle_since, Some(expires_at));
}

#[test]
fn an_infra_image_stays_with_the_setting_and_with_the_last_network_on_it() {
    let mut rig = Rig::with(Policy { image_delay: GoDuration::ZERO, ..Policy::default() });
    let network = Owner::Network(AllocId::from_u128(1));
    rig.feed(Event::AgentNeeds { names: vec![name("pause:1")] });
    assert!(rig.keeper.status().is_empty(), "an infra image that nobody brought is nothing to tell of");
    rig.accept(&network, "pause:1", None);
    rig.want(&network, "pause:1", false);
    rig.pulled(1, &[name("pause:1")]);
    rig.end(&network);
    assert_eq!(rig.status("pause:1").holds, 1, "the agent's own");
    rig.accept(&network, "pause:1", None);
    rig.feed(Event::AgentNeeds { names: vec![name("pause:2")] });
    assert_eq!(rig.status("pause:1").holds, 2, "a network stands on it");
    rig.end(&network);
    assert!(rig.removes_anything());
}

#[test]
fn a_registry_that_cannot_be_asked_leaves_what_is_there_to_who_takes_it() {
    let ask = |rig: &mut Rig, local_copy: bool| {
        let (owner, name, access) = (task(2), name("acme/web:1"), String::new());
        rig.acts.clear();
        rig.feed(Event::Wanted(Want { owner, name, fresh: true, local_copy, access, platform: None, archive: None }));
    };
    let unasked = |rig: &mut Rig| {
        rig.acts.iter().find_map(|action| match action {
            Action::Grant { fetched, unasked, .. } => Some((*fetched, unasked.as_ref().map(|failure| failure.kind))),
            _ => None,
        })
    };
    for (kind, local_copy, granted) in [
        (FailureKind::Unreachable, true, true),
        (FailureKind::RateLimited, true, true),
        (FailureKind::TimedOut, true, true),
        (FailureKind::NotFound, true, false),
        (FailureKind::Denied, true, false),
        (FailureKind::Unreachable, false, false),
    ] {
        let mut rig = Rig::running("acme/web:1");
        rig.accept(&task(2), "acme/web:1", None);
        ask(&mut rig, local_copy);
        assert!(
            rig.acts.iter().any(|action| matches!(action, Action::Pull { patient, .. } if *patient != local_copy)),
            "{kind}"
        );
        let fetch = rig.fetch();
        rig.fails(fetch, kind);
        let expected = granted.then_some((false, Some(kind)));
        assert_eq!(unasked(&mut rig), expected, "{kind}");
        let refused = rig.acts.iter().any(|action| matches!(action, Action::Refuse { .. }));
        assert_eq!(refused, !granted, "{kind}");
    }
}

mod adopt;
mod foreign;
mod pause;
mod stories;
mod versions;
