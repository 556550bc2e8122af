//! Decides when images are pulled, held, kept and removed. Does no I/O and reads no clock.
//!
//! The one that acts feeds events to the keeper, writes the records of each step in one transaction, and only then
//! carries out the step's actions; outcomes come back as events.
//!
//! Words: **content** is what the engine stores. A **name** points at content. A **binding** is one name at one content:
//! *obtained* when a pull or load of ours made it, else *foreign*. A **hold** is a durable record that an owner needs a
//! name and, once granted, its content.

mod action;
mod adoption;
mod binding;
mod books;
mod content;
mod event;
mod fault;
mod hold;
mod keeper;
mod look;
mod need;
mod notice;
mod owner;
mod policy;
mod record;
mod row;
mod space;
mod status;
mod story;
mod view;

pub use action::{Action, Refusal, Step};
pub use adoption::{Adoption, Standing};
pub use binding::{Archive, Before, Binding, ForeignReason, Intent, NameRecord, RemovalReason};
pub use content::{ContentRecord, ContentState, is_private, private_name};
pub use event::{
    ActId, EVENT_FORMAT, EngineNews, Event, FailureKind, FetchFailure, FetchId, LookId, Need, RemovalAnswer, TagAnswer,
    Want,
};
#[doc(hidden)]
pub use fault::Fault;
pub use hold::{Handover, Hold, Pause, Pin};
pub use keeper::{Breach, Invariant, Keeper, RoomReport};
pub use look::{ContainerSeen, ImageSeen, Seen};
pub use notice::{Level, Notice, RemovalOutcome};
pub use owner::Owner;
pub use policy::{Foreign, Policy};
pub use record::{BadEntry, Entry, RECORD_FORMAT, Record};
pub use row::{ROWS_OF_LATER_FEATURES, Row, RowCounts};
pub use space::{Disk, Layer, ROOM_PER_DOWNLOADED_BYTE, Retain, Room, Short, SpacePolicy};
pub use status::{Explanation, ImageStatus, LastFailure, StateWord};
pub use story::{End, Story};
