//! xoff's own form: lists of hosts, switches and links.

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::sketch::{Kind, Sketch, Trouble, Wire};

/// Most links of a file. A few names stand for the links of all their pairs, so the size of a file
/// does not bound them. A fat-tree of 65,536 hosts has 196,608.
const MOST_LINKS: usize = 1 << 20;

/// A file with the place of each of its values.
struct Reader<'a> {
    text: &'a str,
}

type Value<'a> = Spanned<DeValue<'a>>;

pub(super) fn read(text: &str) -> Result<Sketch, Trouble> {
    let reader = Reader { text };
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map(|span| reader.line(span.start));
        Trouble { line, message: error.message().to_owned() }
    })?;
    let table = table.into_inner();
    for key in table.keys() {
        if !["hosts", "switches", "links"].contains(&key.get_ref().as_ref()) {
            let message = format!(
                "\"{}\" has no meaning here: a network has hosts, switches and links",
                key.get_ref()
            );
            return Err(reader.trouble(key, message));
        }
    }
    let mut sketch = Sketch::default();
    for (key, kind) in [("hosts", Kind::Host), ("switches", Kind::Switch)] {
        let Some(names) = table.get(key) else { continue };
        for name in reader.list(key, names)? {
            let text = reader.string(key, name)?;
            if !sketch.add(text, Some(kind), reader.line(name.span().start)) {
                return Err(reader.trouble(name, format!("two nodes are called \"{text}\"")));
            }
        }
    }
    if let Some(links) = table.get("links") {
        for link in reader.list("links", links)? {
            reader.link(link, &mut sketch)?;
        }
    }
    Ok(sketch)
}

impl Reader<'_> {
    fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset.min(self.text.len())]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
    }

    fn trouble<T>(&self, at: &Spanned<T>, message: impl Into<String>) -> Trouble {
        Trouble::at(self.line(at.span().start), message)
    }

    fn list<'a, 'b>(&self, key: &str, value: &'b Value<'a>) -> Result<&'b DeArray<'a>, Trouble> {
        let array = value.get_ref().as_array();
        array.ok_or_else(|| self.trouble(value, format!("{key} must be a list, [...]")))
    }

    fn string<'b>(&self, key: &str, value: &'b Value<'_>) -> Result<&'b str, Trouble> {
        let text = value.get_ref().as_str();
        text.ok_or_else(|| self.trouble(value, format!("{key}: expected a quoted string")))
    }

    /// Adds the links of a table: one, or one for each pair of its ends.
    fn link(&self, value: &Value<'_>, sketch: &mut Sketch) -> Result<(), Trouble> {
        let Some(table) = value.get_ref().as_table() else {
            let message = "a link is a table such as { ends = [\"a\", \"b\"] }";
            return Err(self.trouble(value, message));
        };
        let (mut wire, mut ends, mut count) = (Wire::default(), None, 1);
        for (key, value) in table.iter() {
            let set = match key.get_ref().as_ref() {
                "ends" => {
                    ends = Some(self.ends(value, sketch)?);
                    Ok(())
                }
                "rate" => wire.set_rate(self.string("rate", value)?),
                "delay" => wire.set_delay(self.string("delay", value)?),
                "cost" => wire.set_cost(&self.number("cost", value)?),
                "count" => self
                    .number("count", value)?
                    .parse()
                    .map(|many| count = many)
                    .map_err(|_| "count: expected a small whole number".to_owned()),
                other => Err(format!(
                    "\"{other}\" has no meaning here: a link has ends, rate, delay, cost and count"
                )),
            };
            set.map_err(|message| self.trouble(value, message))?;
        }
        let Some([ones, others]) = ends else {
            return Err(self.trouble(value, "the link has no ends: give ends = [\"a\", \"b\"]"));
        };
        let line = self.line(value.span().start);
        let count = usize::from(u16::max(count, 1));
        let links = sketch.links() + ones.len().saturating_mul(others.len()).saturating_mul(count);
        if links > MOST_LINKS {
            let message = format!("these are {links} links so far: a file has up to {MOST_LINKS}");
            return Err(self.trouble(value, message));
        }
        for &one in &ones {
            for &other in &others {
                for _ in 0..count {
                    sketch.link([one, other], wire, line)?;
                }
            }
        }
        Ok(())
    }

    fn number(&self, key: &str, value: &Value<'_>) -> Result<String, Trouble> {
        let number = value.get_ref().as_integer().map(|number| number.to_string());
        number.ok_or_else(|| self.trouble(value, format!("{key}: expected a whole number")))
    }

    fn ends(&self, value: &Value<'_>, sketch: &Sketch) -> Result<[Vec<u32>; 2], Trouble> {
        let ends = self.list("ends", value)?;
        let ends = ends.iter().map(|end| self.nodes(end, sketch));
        let ends = ends.collect::<Result<Vec<_>, _>>()?;
        let count = ends.len();
        let pair = ends.try_into();
        pair.map_err(|_| self.trouble(value, format!("ends has {count} items: give two")))
    }

    /// The node of a name, or the nodes of a list of names.
    fn nodes(&self, value: &Value<'_>, sketch: &Sketch) -> Result<Vec<u32>, Trouble> {
        if let Some(names) = value.get_ref().as_array() {
            let each = |name| self.node(name, sketch);
            return names.iter().map(each).collect();
        }
        Ok(vec![self.node(value, sketch)?])
    }

    fn node(&self, value: &Value<'_>, sketch: &Sketch) -> Result<u32, Trouble> {
        let name = self.string("ends", value)?;
        let unknown = || format!("no node is called \"{name}\": add it to hosts or switches");
        sketch.number(name).ok_or_else(|| self.trouble(value, unknown()))
    }
}
