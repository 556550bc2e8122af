use super::*;

/// A disk of 1000 bytes with what is on it: other things, and 100 bytes for each image.
struct Small {
    rig: Rig,
    other_bytes: u64,
}

fn policy(space: SpacePolicy) -> Policy {
    Policy { image_delay: GoDuration::hours(1), space, ..Policy::default() }
}

fn image(n: u8) -> String {
    format!("reg.test/i{n}:1")
}

fn room(free_bytes: u64, images: impl Iterator<Item = ContentId>) -> Room {
    let layer = |id: ContentId| vec![Layer { id, size_bytes: 100 }];
    Room { disk: Some(Disk { total_bytes: 1_000, free_bytes }), layers: images.map(|id| (id, layer(id))).collect() }
}

impl Small {
    /// With so many images that nothing needs, the first one idle for longest.
    fn with_idle(space: SpacePolicy, images: u8) -> Self {
        let mut small = Self { rig: Rig::with(policy(space)), other_bytes: 0 };
        for n in 1..=images {
            let owner = task(u128::from(n));
            small.rig.accept(&owner, &image(n), None);
            small.rig.want(&owner, &image(n), false);
            small.rig.put(n, &[name(&image(n))]);
            small.measure();
            small.rig.pulled(n, &[name(&image(n))]);
            small.rig.end(&owner);
            small.rig.wait(10);
        }
        small.rig.acts.clear();
        small
    }

    fn measure(&mut self) {
        let used = self.other_bytes + 100 * self.rig.images.len() as u64;
        self.rig.room = room(1_000_u64.saturating_sub(used), self.rig.images.keys().copied());
    }

    /// Others write so much, and the engine is looked at; containers that are over have gone.
    fn others_take(&mut self, bytes: u64) {
        self.other_bytes = bytes;
        self.measure();
        self.rig.see(EngineNews::ImagesChanged);
        self.no_dead();
    }

    fn no_dead(&mut self) {
        let asks = |action: &Action| match action {
            Action::RemoveDead { act } => Some(*act),
            _ => None,
        };
        if let Some(act) = self.rig.acts.iter().find_map(asks) {
            self.rig.acts.retain(|action| asks(action).is_none());
            self.rig.feed(Event::DeadRemoved { act, removed: 0 });
        }
    }

    /// The images that go, as they are ordered; each is gone when it is asked for.
    fn gone(&mut self) -> Vec<u8> {
        let mut gone = Vec::new();
        loop {
            let going = self.rig.acts.iter().find_map(|action| match action {
                Action::RemoveName { act, name, content } => Some((*act, name.clone(), *content)),
                _ => None,
            });
            let Some((act, name, content)) = going else { return gone };
            gone.push(content.as_bytes()[0]);
            self.rig.acts.clear();
            self.rig.images.remove(&content);
            self.measure();
            self.rig.removed(act, RemovalAnswer::Done { untagged: vec![name], deleted: vec![content] });
            self.no_dead();
        }
    }
}

fn high(disk_high: u8, disk_low: u8) -> SpacePolicy {
    SpacePolicy { disk_high: Some(disk_high), disk_low: Some(disk_low), ..SpacePolicy::default() }
}

#[test]
fn without_marks_nothing_goes_early() {
    let mut small = Small::with_idle(SpacePolicy::default(), 4);
    small.others_take(600);
    assert_eq!(small.gone(), [0; 0]);
}

#[test]
fn over_the_high_mark_images_go_oldest_first_until_the_low_one() {
    let mut small = Small::with_idle(high(80, 65), 5);
    small.others_take(300);
    assert_eq!(small.gone(), [0; 0], "80% is not above 80%");
    small.others_take(310);
    assert_eq!(small.gone(), [1, 2], "81% becomes 61%");
    small.others_take(400);
    assert_eq!(small.gone(), [0; 0], "70% is above the low mark only");
    let why = RemovalReason::Room(Short::DiskHigh);
    let end = small.rig.keeper.story(&name(&image(1))).map(|story| story.end.clone());
    assert!(matches!(end, Some(End::Removed { why: told, .. }) if told == why), "{end:?}");
}

#[test]
fn what_is_used_more_goes_later() {
    let mut small = Small::with_idle(high(50, 35), 3);
    for n in [101, 102] {
        small.rig.accept(&task(n), &image(1), None);
        small.rig.want(&task(n), &image(1), false);
        small.rig.end(&task(n));
    }
    small.rig.acts.clear();
    small.others_take(210);
    assert_eq!(small.gone(), [2, 3]);
}

#[test]
fn nothing_goes_before_its_least_age_and_everything_after_its_greatest() {
    let min_age = GoDuration::seconds(60);
    let mut small = Small::with_idle(SpacePolicy { min_age, ..high(50, 10) }, 2);
    small.others_take(900);
    assert_eq!(small.gone(), [0; 0]);
    assert!(small.rig.status(&image(1)).why.contains("younger than gc.min_age (1m0s)"));
    small.rig.wait(40);
    assert_eq!(small.gone(), [1]);
    small.rig.wait(10);
    assert_eq!(small.gone(), [2]);

    let space = SpacePolicy { retain: Retain::Space, budget_bytes: Some(10_000), ..SpacePolicy::default() };
    let mut small = Small::with_idle(space.clone(), 1);
    small.rig.wait(1_000_000);
    assert!(!small.rig.removes_anything());
    assert_eq!(small.rig.status(&image(1)).due_at, None);
    small.rig.feed(Event::PolicyChanged(policy(SpacePolicy { max_age: GoDuration::hours(1), ..space })));
    assert_eq!(small.gone(), [1]);
}

#[test]
fn a_budget_counts_shared_layers_once() {
    let budget = |bytes| SpacePolicy { budget_bytes: Some(bytes), ..SpacePolicy::default() };
    let mut small = Small::with_idle(budget(300), 3);
    small.others_take(0);
    assert_eq!(small.gone(), [0; 0]);
    small.rig.feed(Event::PolicyChanged(policy(budget(299))));
    small.no_dead();
    assert_eq!(small.gone(), [1]);

    let mut small = Small::with_idle(budget(300), 2);
    let base = Layer { id: content(90), size_bytes: 200 };
    for layers in small.rig.room.layers.values_mut() {
        layers.insert(0, base);
    }
    let layers = small.rig.room.clone();
    assert_eq!(small.rig.keeper.room().obtained_bytes, 200);
    small.rig.see(EngineNews::ImagesChanged);
    assert_eq!(small.rig.keeper.room().obtained_bytes, 400);
    small.no_dead();
    let act = small.rig.removal_of(&name(&image(1)));
    small.rig.images.remove(&content(1));
    small.rig.room = Room { layers: layers.layers.into_iter().filter(|(id, _)| *id != content(1)).collect(), ..layers };
    small.rig.removed(act, RemovalAnswer::Done { untagged: vec![name(&image(1))], deleted: vec![content(1)] });
    assert!(!small.rig.removes_anything());
    assert_eq!(small.rig.keeper.room().obtained_bytes, 300);
}

#[test]
fn a_pull_without_room_is_tried_once_more_when_there_is_some() {
    let mut small = Small::with_idle(SpacePolicy::default(), 3);
    small.others_take(600);
    let wants = |small: &mut Small, needed_bytes| {
        let owner = task(100);
        small.rig.want(&owner, "reg.test/big:1", false);
        let fetch = small.rig.fetch();
        let failure = FetchFailure { kind: FailureKind::NoSpace, message: "full".to_owned(), needed_bytes };
        small.rig.feed(Event::Fetched { fetch, result: Err(failure) });
        small.no_dead();
    };
    wants(&mut small, Some(250));
    assert_eq!(small.rig.pulls(), 0);
    assert_eq!(small.gone(), [1, 2], "150 bytes are too few");
    let fetch = small.rig.fetch();
    small.rig.fails(fetch, FailureKind::NoSpace);
    let refused = |small: &Small| small.rig.acts.iter().any(|action| matches!(action, Action::Refuse { .. }));
    assert!(refused(&small) && !small.rig.removes_anything(), "once");

    // Another attempt may have room made anew; when nothing is left that could go, that is said.
    small.rig.acts.clear();
    wants(&mut small, None);
    assert_eq!(small.gone(), [3]);
    let fetch = small.rig.fetch();
    small.rig.fails(fetch, FailureKind::NoSpace);
    small.rig.acts.clear();
    small.rig.put(9, &[name("reg.test/theirs:1")]);
    wants(&mut small, None);
    let why = small.rig.take(|action| match action {
        Action::Refuse { why, .. } => Some(why.to_string()),
        _ => None,
    });
    assert_eq!(
        why,
        "full; no idle image can make room: reg.test/theirs:1 stays (reg.test/theirs:1 was brought by others)"
    );
}

#[test]
fn for_a_pull_that_cannot_fit_nothing_is_given_up() {
    let mut small = Small::with_idle(SpacePolicy::default(), 3);
    small.rig.want(&task(100), "reg.test/huge:1", false);
    let fetch = small.rig.fetch();
    let needed_bytes = Some(1_001 * ROOM_PER_DOWNLOADED_BYTE);
    let failure = FetchFailure { kind: FailureKind::NoSpace, message: "full".to_owned(), needed_bytes };
    small.rig.feed(Event::Fetched { fetch, result: Err(failure) });
    small.no_dead();
    assert!(!small.rig.removes_anything());
    let why = small.rig.take(|action| match action {
        Action::Refuse { why, .. } => Some(why.to_string()),
        _ => None,
    });
    assert_eq!(why, "full; without all images that nothing needs there would not be enough room either");
}

#[test]
fn without_leave_to_remove_images_a_pull_without_room_fails_at_once() {
    for policy in [
        Policy { image: false, ..policy(high(50, 10)) },
        Policy { kept_by_others: true, ..policy(high(50, 10)) },
        policy(SpacePolicy { reclaim: false, ..SpacePolicy::default() }),
    ] {
        let mut small = Small::with_idle(SpacePolicy::default(), 2);
        small.rig.feed(Event::PolicyChanged(policy));
        small.others_take(800);
        small.rig.want(&task(100), "reg.test/big:1", false);
        let fetch = small.rig.fetch();
        small.rig.fails(fetch, FailureKind::NoSpace);
        assert!(small.rig.acts.iter().any(|action| matches!(action, Action::Refuse { .. })));
        small.rig.acts.clear();
        small.rig.feed(Event::NoSpace);
        assert_eq!(small.rig.acts, [Action::RoomMade { any: false }]);
        assert!(!small.rig.removes_anything());
    }
}

#[test]
fn containers_that_are_over_go_before_any_image() {
    let mut small = Small::with_idle(high(50, 30), 2);
    small.other_bytes = 400;
    small.measure();
    small.rig.see(EngineNews::ImagesChanged);
    assert!(!small.rig.removes_anything());
    let act = small.rig.take(|action| match action {
        Action::RemoveDead { act } => Some(*act),
        _ => None,
    });
    small.other_bytes = 100;
    small.measure();
    small.rig.feed(Event::DeadRemoved { act, removed: 1 });
    assert_eq!(small.gone(), [0; 0], "that was enough");
}

#[test]
fn when_nothing_can_go_each_reason_is_told_once_and_the_rest_ever_less_often() {
    let mut small = Small::with_idle(high(50, 30), 1);
    small.rig.accept(&task(1_000), &image(1), None);
    small.rig.acts.clear();
    small.others_take(700);
    let told = |small: &mut Small| {
        let lines = small.rig.acts.iter().filter_map(|action| match action {
            Action::Tell(notice @ (Notice::CannotGo { .. } | Notice::NothingCanGo { .. } | Notice::Pressed { .. })) => {
                Some(notice.to_string())
            }
            _ => None,
        });
        let lines: Vec<_> = lines.collect();
        small.rig.acts.clear();
        lines.join("\n")
    };
    insta::assert_snapshot!(told(&mut small), @r"
    room is short: over the disk mark gc.disk_high (the engine's disk: 80% used, 200 B of 1000 B free); images that nothing needs go now, the least worth first
    reg.test/i1:1 cannot make room: 1 hold
    room is short and none of 1 images can go: over the disk mark gc.disk_high (the engine's disk: 80% used, 200 B of 1000 B free); what else is on the disk is not ours to remove
    ");
    let mut times = Vec::new();
    for second in 1..=600 {
        small.rig.wait(1);
        small.no_dead();
        let told = told(&mut small);
        assert!(!told.contains("cannot make room"));
        if !told.is_empty() {
            times.push(second);
        }
    }
    assert_eq!(times, [60, 180, 420]);
    small.others_take(100);
    assert!(told(&mut small).is_empty());
}
