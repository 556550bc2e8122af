use longshore_api::{GoTime, ImageExplain, ImageHolder, ImageStatus, ImagesResponse};

use super::{verbose, view_at};
use crate::render::image;

fn at(seconds: i64) -> GoTime {
    GoTime::from_nanoseconds(view_at(seconds).now)
}

fn held() -> ImageStatus {
    ImageStatus {
        name: "redis:7".to_owned(),
        id: "sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631".to_owned(),
        size_bytes: 138 << 20,
        provenance: "obtained".to_owned(),
        state: "held".to_owned(),
        holds: 1,
        holders: vec![ImageHolder {
            kind: "task".to_owned(),
            id: "8fa20aaa-1111-2222-3333-444444444444".to_owned(),
            alloc_id: "8fa20aaa-1111-2222-3333-444444444444".to_owned(),
            task_name: "cache".to_owned(),
        }],
        why: "a task needs it".to_owned(),
        last_used: at(-60),
        ..ImageStatus::default()
    }
}

#[test]
fn the_table() {
    let idle = ImageStatus {
        name: "web:1".to_owned(),
        state: "idle".to_owned(),
        holds: 0,
        holders: vec![],
        due_at: at(161),
        idle_since: at(-19),
        why: "idle; removed after image_delay".to_owned(),
        ..held()
    };
    let pulling = ImageStatus {
        name: "big:2".to_owned(),
        state: "pulling".to_owned(),
        holds: 1,
        progress: "12 MiB of 40 MiB".to_owned(),
        ..ImageStatus::default()
    };
    let overdue = ImageStatus { name: "late:1".to_owned(), due_at: at(-1), ..idle.clone() };
    let mut images = ImagesResponse { note: String::new(), pause: None, images: vec![held(), idle, pulling, overdue] };
    insta::assert_snapshot!(image::list(&view_at(0), &images), @"
    Name     ID            Size     Provenance  State                       Holds  Goes in
    redis:7  7614ae9453d1  138 MiB  obtained    held                        1      -
    web:1    7614ae9453d1  138 MiB  obtained    idle                        0      2m41s
    big:2    <none>        <none>   <none>      pulling (12 MiB of 40 MiB)  1      -
    late:1   7614ae9453d1  138 MiB  obtained    idle                        0      now
    ");
    insta::assert_snapshot!(image::list(&verbose(view_at(0)), &images), @"
    Name     ID                                                                       Size     Provenance  State                       Holds  Goes in  Last Used  Why                              Held By
    redis:7  sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631  138 MiB  obtained    held                        1      -        1m ago     a task needs it                  task 8fa20aaa-1111-2222-3333-444444444444/cache
    web:1    sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631  138 MiB  obtained    idle                        0      2m41s    1m ago     idle; removed after image_delay  <none>
    big:2    <none>                                                                   <none>   <none>      pulling (12 MiB of 40 MiB)  1      -        <none>     <none>                           <none>
    late:1   sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631  138 MiB  obtained    idle                        0      now      1m ago     idle; removed after image_delay  <none>
    ");
    images.images.clear();
    images.note = "another agent keeps this engine's images".to_owned();
    insta::assert_snapshot!(image::list(&view_at(0), &images), @"
    another agent keeps this engine's images
    ");
}

#[test]
fn the_story_of_one() {
    let explain = ImageExplain {
        status: ImageStatus { due_at: GoTime::ZERO, ..held() },
        lines: vec!["task \"cache\" of allocation 8fa20aaa needs it".to_owned(), "pulled by us at 17:37:00".to_owned()],
    };
    insta::assert_snapshot!(image::explain(&view_at(0), &explain), @r#"
    Name       = redis:7
    ID         = sha256:7614ae9453d1d87e740a2056257a6de7135c84037c367e1fffa92ae922784631
    Size       = 138 MiB
    Provenance = obtained
    State      = held
    Holds      = 1
    Goes in    = -
    Last Used  = 2026-11-30T17:37:00Z

    Held by
    Kind  ID        Task
    task  8fa20aaa  cache

    Why
      * task "cache" of allocation 8fa20aaa needs it
      * pulled by us at 17:37:00
    "#);
}
