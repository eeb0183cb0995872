//! Rules for shares of traffic classes in the memory of switches.

use xoff_core::knobs::Knob as _;
use xoff_core::seam::Seam;
use xoff_net::buffer::Profile;
use xoff_net::by_class::ByClass;
use xoff_net::hop::HopQueues;

use super::switches::schedulers_for;
use crate::resolve::reader::Reader;
use crate::resolve::spec::Spec;
use crate::sections::ElideKind;

/// Classes with shares of their own need a queue each, and parts that keep their accounts.
pub(super) fn shares(spec: &Spec, reader: &mut Reader<'_>) {
    let Some(buffer) = &spec.buffer else { return };
    if buffer.by_class.is_empty() || reader.is_dead("buffer", "by_class") {
        return;
    }
    let (hop, scheduler) = (spec.switch.hop.show(), spec.switch.scheduler.show());
    if spec.scheduler.serves(&HopQueues::Classes).is_err() {
        let others = schedulers_for(&HopQueues::Classes);
        let message = format!(
            "by_class needs a queue for each class, which scheduler = {scheduler} does not have: \
             set switch.{others}"
        );
        reader.problem("buffer", "by_class", message);
    }
    if spec.switch.elide != ElideKind::None {
        let message = format!(
            "by_class cannot be combined with switch.elide = {}, whose packets count against one \
             share of all classes: set elide = \"none\"",
            spec.switch.elide.show()
        );
        reader.problem("buffer", "by_class", message);
    }
    if spec.overflow.trim().is_some() {
        let message = format!(
            "by_class cannot be combined with switch.overflow = {}: its counts do not follow a \
             packet that gives its place to another; set overflow = \"drop\"",
            spec.switch.overflow.show()
        );
        reader.problem("buffer", "by_class", message);
    }
    if !spec.hop.pauses_classes() {
        pauses(&buffer.by_class, &hop, reader);
    }
}

/// Without pauses no class has a headroom.
fn pauses(by_class: &ByClass<Profile>, hop: &str, reader: &mut Reader<'_>) {
    for (class, own) in by_class.iter() {
        for (word, size) in [("headroom", own.headroom), ("resume_offset", own.resume_offset)] {
            if size.is_none() {
                continue;
            }
            let message = format!(
                "class {class} of by_class has a {word}, but switch.hop = {hop} pauses no class: \
                 leave it out, or set hop = \"pfc\""
            );
            reader.problem("buffer", "by_class", message);
        }
    }
}

/// Settings of all classes have no effect if each class replaces them.
pub(super) fn of_all(spec: &Spec, reader: &mut Reader<'_>) {
    let Some(buffer) = &spec.buffer else { return };
    for key in spec.hop.replaced(&buffer.by_class) {
        let reason = "buffer.by_class names every class, as lossy or with a value of its own";
        reader.without_effect(spec.hop.own_section(), key, reason);
    }
}
