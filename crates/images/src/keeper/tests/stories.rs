//! How an image went, for those who ask afterwards.

use super::*;
use crate::books::STORIES_MAX;

fn story(rig: &Rig, image: &str) -> Option<Story> {
    rig.keeper.explain(&name(image)).and_then(|it| it.last_story)
}

#[test]
fn what_is_gone_tells_when_why_and_what_was_freed_over_a_restart() {
    let (mut rig, act) = Rig::removing("redis:7");
    let idle_since = Timestamp::from_seconds(rig.now - DELAY);
    assert_eq!(story(&rig, "redis:7"), None);
    rig.images.clear();
    let (untagged, deleted) = (vec![name("redis:7"), digest(1)], vec![content(1)]);
    rig.removed(act, RemovalAnswer::Done { untagged, deleted });
    rig.restart();
    let told = story(&rig, "redis:7").unwrap();
    let outcome = RemovalOutcome::Removed { freed_bytes: 7 };
    let delay = GoDuration::seconds(DELAY);
    assert_eq!(told.end, End::Removed { why: RemovalReason::Due, delay, foreign: false, outcome });
    assert_eq!((told.at, told.idle_since, told.uses), (Timestamp::from_seconds(rig.now), Some(idle_since), 1));
    let status = rig.keeper.explain(&name("redis:7")).unwrap().status;
    assert_eq!((status.state, status.provenance), (StateWord::Absent, Provenance::Absent));
    assert_eq!(rig.keeper.story(&ImageRef::from_id(content(1))).map(|it| &it.name), Some(&name("redis:7")));
    assert!(rig.keeper.status().is_empty(), "the list is of what is here");
}

#[test]
fn what_others_removed_is_told_as_theirs() {
    let mut rig = Rig::running("redis:7");
    rig.images.clear();
    rig.see(EngineNews::ImagesChanged);
    assert_eq!(story(&rig, "redis:7").map(|it| it.end), Some(End::ByOthers));
}

#[test]
fn the_oldest_of_too_many_stories_goes() {
    let mut rig = Rig::new();
    for n in 0..=STORIES_MAX {
        let image = format!("image:{n}");
        rig.now += 1;
        rig.keeper.books.put_story(Story {
            name: name(&image),
            content: content(1),
            at: Timestamp::from_seconds(rig.now),
            end: End::ByOthers,
            idle_since: None,
            last_used_at: None,
            uses: 0,
        });
        rig.feed(Event::Tick);
    }
    assert_eq!(story(&rig, "image:0"), None);
    assert!(story(&rig, "image:1").is_some());
    assert_eq!(rig.ledger.values().filter(|entry| matches!(entry, Entry::Story(_))).count(), STORIES_MAX);
}
