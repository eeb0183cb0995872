//! GraphML (Brandes et al., "GraphML Progress Report", GD 2001; <http://graphml.graphdrawing.org>).

use roxmltree::{Document, Node};
use rustc_hash::FxHashMap;

use super::sketch::{Kind, Sketch, Trouble, Wire};

/// The attributes that a file declares: their names by their identifiers.
type Keys<'a> = FxHashMap<&'a str, &'a str>;

pub(super) fn read(text: &str) -> Result<Sketch, Trouble> {
    let document = Document::parse(text)
        .map_err(|error| Trouble::at(error.pos().row as usize, error.to_string()))?;
    let line = |node: Node<'_, '_>| document.text_pos_at(node.range().start).row as usize;
    let elements = |name: &'static str| {
        let all = document.root_element().descendants();
        all.filter(move |node| node.tag_name().name() == name)
    };
    let mut graphs = elements("graph");
    let Some(graph) = graphs.next() else {
        return Err(Trouble::anywhere("it has no graph element: is it GraphML?"));
    };
    if let Some(second) = graphs.next() {
        return Err(Trouble::at(line(second), "there is more than one graph, or a nested one"));
    }
    let is_directed = |node: Node<'_, '_>| {
        node.attribute("edgedefault") == Some("directed")
            || node.attribute("directed") == Some("true")
    };
    if let Some(directed) = elements("edge").chain([graph]).find(|&node| is_directed(node)) {
        let message = "the graph is directed, but a link has two directions: write it undirected";
        return Err(Trouble::at(line(directed), message));
    }
    let keys: Keys<'_> = elements("key")
        .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)))
        .collect();
    let mut sketch = Sketch::default();
    for node in elements("node") {
        let at = line(node);
        let fault = |message| Trouble::at(at, message);
        let id = attribute(node, "id").map_err(fault)?;
        let kind = value(node, "kind", &keys).map(Kind::read).transpose().map_err(fault)?;
        if !sketch.add(id, kind, at) {
            return Err(fault(format!("two nodes have the id \"{id}\"")));
        }
        if let (Some(number), Some(label)) = (sketch.number(id), value(node, "label", &keys)) {
            sketch.rename(number, label);
        }
    }
    for edge in elements("edge") {
        let at = line(edge);
        let fault = |message| Trouble::at(at, message);
        let end = |name| {
            let id = attribute(edge, name)?;
            sketch.number(id).ok_or_else(|| format!("{name} = \"{id}\" is no node of the graph"))
        };
        let ends = [end("source").map_err(fault)?, end("target").map_err(fault)?];
        let wire = wire(edge, &keys).map_err(fault)?;
        sketch.link(ends, wire, at)?;
    }
    Ok(sketch)
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, String> {
    node.attribute(name).ok_or_else(|| format!("{} has no {name}", node.tag_name().name()))
}

/// The value of an attribute that a key declares.
fn value<'a>(node: Node<'a, '_>, name: &str, keys: &Keys<'_>) -> Option<&'a str> {
    let is_of = |data: &Node<'_, '_>| {
        let key = data.attribute("key").and_then(|key| keys.get(key));
        data.tag_name().name() == "data" && key.is_some_and(|key| key.eq_ignore_ascii_case(name))
    };
    let text = node.children().find(is_of).and_then(|data| data.text());
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn wire(edge: Node<'_, '_>, keys: &Keys<'_>) -> Result<Wire, String> {
    let mut wire = Wire::default();
    let of = |name| value(edge, name, keys);
    of("LinkSpeedRaw").map(|bits| wire.set_bits_per_second(bits)).transpose()?;
    of("rate").map(|rate| wire.set_rate(rate)).transpose()?;
    of("delay").map(|delay| wire.set_delay(delay)).transpose()?;
    let cost = of("cost").map(|cost| ("cost", cost));
    let cost = cost.or_else(|| of("weight").map(|weight| ("weight", weight)));
    cost.map(|(name, cost)| wire.set_named_cost(name, cost)).transpose()?;
    Ok(wire)
}
