use longshore_images::{Retain, SpacePolicy};
use longshore_settings::{Block, Origin};
use longshore_values::{ByteSize, GoDuration};

/// The keys of the `gc` block that are about room and age, and how they go together.
pub(super) fn read_space(block: &mut Block<'_>) -> SpacePolicy {
    let default = SpacePolicy::default();
    let given = ["retain", "disk_low", "max_age"].map(|key| block.origin_of(key));
    let [of_retain, of_low, of_max_age] = given.map(|origin| origin.unwrap_or(Origin::Default));
    let mut space = SpacePolicy {
        retain: retain(block),
        budget_bytes: size(block, "budget"),
        disk_high: percent(block, "disk_high"),
        disk_low: percent(block, "disk_low"),
        min_free_bytes: size(block, "min_free"),
        min_age: span(block, "min_age"),
        max_age: span(block, "max_age"),
        reclaim: block.take_bool_or("reclaim", default.reclaim),
    };
    if space.retain == Retain::Space && !space.has_marks() {
        let summary = format!("{} = \"space\" needs to know how much room there is", block.path_of("retain"));
        block.refuse(&of_retain, summary, "set budget, disk_high or min_free beside it, or leave it out");
        space.retain = Retain::Delay;
    }
    match (space.disk_high, space.disk_low) {
        (None, Some(_)) => {
            let summary = format!("{} has no meaning without disk_high", block.path_of("disk_low"));
            block.refuse(&of_low, summary, "set disk_high, the mark at which idle images begin to go");
        }
        (Some(high), Some(low)) if low >= high => {
            let summary = format!("{} must be below disk_high ({high}), not {low}", block.path_of("disk_low"));
            block.refuse(&of_low, summary, "idle images go from disk_high on, until disk_low is reached");
        }
        _ => {}
    }
    if space.max_age > GoDuration::ZERO && space.max_age < space.min_age {
        let (least, most) = (space.min_age, space.max_age);
        let summary = format!("{} must not be below min_age ({least}), but is {most}", block.path_of("max_age"));
        block.refuse(&of_max_age, summary, "");
    }
    space
}

fn retain(block: &mut Block<'_>) -> Retain {
    let word = block.take_parsed("retain", |text| match text {
        "delay" => Ok(Retain::Delay),
        "space" => Ok(Retain::Space),
        _ => Err("it is \"delay\" or \"space\"".to_owned()),
    });
    match word {
        Some(word) => word,
        None => {
            block.default_text("retain", "delay");
            Retain::Delay
        }
    }
}

fn size(block: &mut Block<'_>, key: &str) -> Option<u64> {
    block.take_parsed(key, |text| match text.parse::<ByteSize>() {
        Ok(ByteSize(0)) => Err("it must be more than 0; leave it out for none".to_owned()),
        Ok(ByteSize(bytes)) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    })
}

/// `85`, or `"85%"`.
fn percent(block: &mut Block<'_>, key: &str) -> Option<u8> {
    block.take_parsed(key, |text| {
        let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<u8>().ok();
        number
            .filter(|percent| (1..=99).contains(percent))
            .ok_or_else(|| "it is a share of the disk in whole percent, from 1 to 99, as in 85 or \"85%\"".to_owned())
    })
}

fn span(block: &mut Block<'_>, key: &str) -> GoDuration {
    let origin = block.origin_of(key);
    let span = block.take_duration_or(key, GoDuration::ZERO);
    if span.is_negative() {
        let summary = format!("{} must not be negative, but is {span}", block.path_of(key));
        block.refuse(&origin.unwrap_or(Origin::Default), summary, "");
        return GoDuration::ZERO;
    }
    span
}
