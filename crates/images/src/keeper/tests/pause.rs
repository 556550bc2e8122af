//! No removals for a while, because a person says so.

use super::*;

fn pause(rig: &mut Rig, seconds: i64) {
    let at = Timestamp::from_seconds(rig.now);
    let until = Timestamp::from_seconds(rig.now + seconds);
    rig.feed(Event::Paused(Pause { who: "ann".to_owned(), at, until }));
}

/// Task 1's image is idle since now.
fn idle() -> Rig {
    let mut rig = Rig::running("redis:7");
    rig.end(&task(1));
    rig
}

#[test]
fn nothing_goes_before_the_end_of_a_pause_over_a_restart_too() {
    let mut rig = idle();
    pause(&mut rig, 2 * DELAY);
    assert_eq!(rig.status("redis:7").due_at, Some(Timestamp::from_seconds(rig.now + 2 * DELAY)));
    rig.restart();
    rig.recover(&[]);
    rig.wait(DELAY + 1);
    assert_eq!(rig.status("redis:7").why, "idle, and ann has paused removals");
    rig.feed(Event::CollectNow);
    rig.wait(DELAY - 2);
    assert!(!rig.removes_anything() && rig.keeper.paused().is_some());
    rig.wait(1);
    assert!(rig.keeper.paused().is_none() && rig.removes_anything());
}

#[test]
fn a_pause_is_ended_by_a_person() {
    let mut rig = idle();
    pause(&mut rig, 9 * DELAY);
    rig.wait(DELAY);
    rig.feed(Event::Resumed { who: "bob".to_owned() });
    assert!(rig.removes_anything());
    assert!(rig.has_told(|notice| *notice == Notice::Resumed { by: Some("bob".to_owned()) }));
    rig.acts.clear();
    rig.feed(Event::Resumed { who: "bob".to_owned() });
    assert!(!rig.has_told(|_| true), "there was none");
}

#[test]
fn a_clock_that_steps_back_makes_no_pause_longer() {
    let mut rig = idle();
    pause(&mut rig, DELAY);
    rig.wait(-1_000);
    rig.wait(DELAY - 1);
    assert!(rig.keeper.paused().is_some());
    rig.wait(1);
    assert!(rig.keeper.paused().is_none());
}
