//! A network of any shape, read from a file.

mod edges;
mod graphml;
mod sketch;
#[cfg(test)]
mod tests;
mod toml_form;

use xoff_core::files::digest_of;
use xoff_core::seam::{SectionDoc, Sections, Settings};
use xoff_core::{BitRate, Files, Ps, knobs};

use self::sketch::{Sketch, Trouble};
use super::{Census, Count, Derived, Topology, TopologySettings};

knobs! {
    /// A network of any shape. Packets take the paths of the lowest cost: the fewest links, unless
    /// the file gives links a cost. The name of the file decides how it is read:
    ///
    /// - `.toml`: `hosts` and `switches` list the names of nodes, `links` has tables with `ends`
    ///   (two names, or two lists, whose nodes are linked each to each) and, if wanted, `rate`,
    ///   `delay`, `cost`, and `count`, the number of parallel links.
    /// - `.graphml` or `.xml`: GraphML, without direction. Attributes of nodes: `kind` (`host` or
    ///   `switch`), `label`. Attributes of edges: `rate` or `LinkSpeedRaw` (in bit/s, as in the
    ///   Internet Topology Zoo), `delay`, and `cost` or `weight`. Others are not read.
    /// - any other: a list of edges, one in a line: two names, separated by blanks or a comma,
    ///   then `rate`, `delay` and `cost=N` in any order. `#` begins a comment.
    ///
    /// Where nodes have no kind, those with one link are hosts, and all others are switches; with
    /// `hosts_per_switch`, all are switches. Hosts and switches are numbered in the order of the
    /// file. The layer of a switch is its distance from the nearest switch with hosts.
    pub struct GraphConfig in "graph" {
        /// The path of the file.
        file: String = String::new(),
        /// Rate of links without one.
        rate: BitRate = BitRate::from_gbps(100),
        /// Propagation delay of links without one.
        delay: Ps = Ps::from_us(1),
        /// Hosts to add to each switch of a graph that has only switches.
        hosts_per_switch: u32 = 0,
    }
}

/// The network of a file: empty until it is loaded.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    config: GraphConfig,
    sketch: Sketch,
}

impl Graph {
    /// The network of a file with this text.
    ///
    /// # Errors
    /// What is wrong, with the line of the file.
    pub fn parse(config: GraphConfig, text: &str) -> Result<Self, String> {
        let ending = config.file.rsplit_once('.').map_or("", |(_, ending)| ending);
        let read = match ending {
            "toml" => toml_form::read(text),
            "graphml" | "xml" => graphml::read(text),
            _ => edges::read(text),
        };
        let finished = read.and_then(|sketch| sketch.finish(&config));
        match finished {
            Ok(sketch) => Ok(Self { config, sketch }),
            Err(Trouble { line: Some(line), message }) => {
                Err(format!("{}:{line}: {message}", config.file))
            }
            Err(Trouble { line: None, message }) => Err(format!("{}: {message}", config.file)),
        }
    }
}

impl Settings for Graph {
    fn read(sections: &mut impl Sections) -> Self {
        Self { config: sections.read(), sketch: Sketch::default() }
    }

    fn sections() -> Vec<SectionDoc> {
        vec![SectionDoc::of::<GraphConfig>()]
    }
}

impl TopologySettings for Graph {
    fn counts(&self) -> Vec<Count> {
        vec![("hosts_per_switch", self.config.hosts_per_switch)]
    }

    fn load(&mut self, files: &dyn Files) -> Result<Vec<Derived>, (&'static str, String)> {
        if self.config.file.is_empty() {
            let message = "file is empty: give the path of a .toml, .graphml or edge list file";
            return Err(("file", message.into()));
        }
        let text = files.text_of("file", &self.config.file).map_err(|message| ("file", message))?;
        let read = Self::parse(self.config.clone(), &text);
        *self = read.map_err(|message| ("file", message))?;
        Ok(digest_of(&text))
    }

    fn census(&self) -> Census {
        self.sketch.census(self.config.hosts_per_switch)
    }

    fn build(&self) -> Result<Topology, String> {
        self.sketch.build(&self.config)
    }

    fn has_uniform_core(&self) -> bool {
        true
    }

    /// The two ends of a path may choose among different links.
    fn has_symmetric_choices(&self) -> bool {
        false
    }
}
