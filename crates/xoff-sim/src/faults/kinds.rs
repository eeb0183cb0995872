//! Kinds of fault: their settings, and what they need of the other parts of a scenario.

use xoff_core::Ps;

use super::Defect;

xoff_core::knobs! {
    /// A link goes down: what is on it is lost, and what is sent into it. Times are rounded up to
    /// `run.grid`.
    pub struct LinkDownConfig in "link_down" {
        /// The two ends, such as leaf:0,spine:1; all parallel links between them go down.
        link: String = String::new(),
        /// When it goes down.
        at: Ps = Ps(0),
        /// When it is back; 0: never.
        until: Ps = Ps(0),
        /// How long after it went down all switches route around it, and after it is back use it
        /// again.
        detection: Ps = Ps::from_us(1000),
    }
}

xoff_core::knobs! {
    /// Links lose packets at random, of every kind and in both directions. Times are rounded up to
    /// `run.grid`.
    pub struct LossConfig in "loss" {
        /// The two ends of the link, such as leaf:0,spine:1 or 3,leaf:0; all: all links.
        link: String = "all".to_owned(),
        /// The share of packets that are lost.
        share: f64 = 0.01,
        /// When it begins.
        at: Ps = Ps(0),
        /// When it ends; 0: never.
        until: Ps = Ps(0),
    }
}

xoff_core::seam! {
    /// Kinds of fault.
    pub enum FaultConfig: dyn FaultSettings, named by FaultKind {
        /// A link goes down.
        LinkDown(LinkDownConfig) = "link-down",
        /// Links lose packets at random.
        Loss(LossConfig) = "loss",
    }
}

/// The settings of a fault.
pub trait FaultSettings {
    /// The two ends of its links.
    fn link(&self) -> &str;

    /// When it begins.
    fn at(&self) -> Ps;

    /// When it ends; 0: never.
    fn until(&self) -> Ps;

    /// What is wrong with its links.
    fn defect(&self) -> Defect;

    /// Checks the settings of this kind alone.
    ///
    /// # Errors
    /// What is wrong and what is allowed.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Whether `link = "all"` names all links.
    fn may_name_all_links(&self) -> bool {
        false
    }

    /// Whether its links carry nothing, so that switches must route around them.
    fn is_outage(&self) -> bool {
        false
    }

    /// Whether both ends of a link know of the fault, and forget the pauses of before. If not, a lost
    /// frame can leave a queue paused.
    fn both_ends_know(&self) -> bool {
        false
    }
}

impl FaultSettings for LinkDownConfig {
    fn link(&self) -> &str {
        &self.link
    }

    fn at(&self) -> Ps {
        self.at
    }

    fn until(&self) -> Ps {
        self.until
    }

    fn defect(&self) -> Defect {
        Defect::Down { detection: self.detection }
    }

    fn is_outage(&self) -> bool {
        true
    }

    fn both_ends_know(&self) -> bool {
        true
    }
}

impl FaultSettings for LossConfig {
    fn link(&self) -> &str {
        &self.link
    }

    fn at(&self) -> Ps {
        self.at
    }

    fn until(&self) -> Ps {
        self.until
    }

    fn defect(&self) -> Defect {
        Defect::Loss { share: self.share }
    }

    fn check(&self) -> Result<(), String> {
        let share = self.share;
        if share > 1.0 {
            return Err(format!("share is {share}: it is a share of the packets, 0 to 1"));
        }
        Ok(())
    }

    fn may_name_all_links(&self) -> bool {
        true
    }
}
