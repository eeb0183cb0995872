//! Directed graphs and their cycles. Results depend only on the arcs, not on their order.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

/// A directed graph over nodes 0 to n - 1.
#[derive(Clone, Debug)]
pub struct Digraph {
    /// Index of the first successor of each node; one more entry than nodes.
    first: Vec<u32>,
    /// Successors of all nodes, in order for each node.
    to: Vec<u32>,
}

/// A node of a search with unfinished successors.
struct Visit {
    node: u32,
    next: u32,
}

impl Digraph {
    /// The graph of these arcs. Repeated arcs count once.
    #[must_use]
    pub fn new(nodes: usize, mut arcs: Vec<(u32, u32)>) -> Self {
        arcs.sort_unstable();
        arcs.dedup();
        let mut first = vec![0; nodes + 1];
        arcs.iter().for_each(|&(from, _)| first[from as usize + 1] += 1);
        (0..nodes).for_each(|node| first[node + 1] += first[node]);
        Self { first, to: arcs.into_iter().map(|(_, to)| to).collect() }
    }

    /// The number of nodes.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    /// The number of arcs.
    #[must_use]
    pub fn arcs(&self) -> usize {
        self.to.len()
    }

    /// The successors of a node.
    #[must_use]
    pub fn of(&self, node: u32) -> &[u32] {
        &self.to[self.first[node as usize] as usize..self.first[node as usize + 1] as usize]
    }

    /// The sets of nodes, in order, in which every node lies on a cycle with every other one: the
    /// strongly connected components that hold a cycle (Tarjan, 1972).
    #[must_use]
    pub fn knots(&self) -> Vec<Vec<u32>> {
        let mut search = Tarjan::new(self.nodes());
        for node in 0..self.nodes() as u32 {
            search.visit(self, node);
        }
        let mut knots = search.found;
        knots.retain(|knot| knot.len() > 1 || self.of(knot[0]).contains(&knot[0]));
        knots.iter_mut().for_each(|knot| knot.sort_unstable());
        knots.sort_unstable();
        knots
    }

    /// The first of the shortest cycles through nodes of a knot, starting at its lowest node.
    #[must_use]
    pub fn shortest_cycle(&self, knot: &[u32]) -> Vec<u32> {
        let mut best: Vec<u32> = Vec::new();
        let mut from = vec![u32::MAX; self.nodes()];
        for &start in knot {
            let limit = if best.is_empty() { usize::MAX } else { best.len() };
            if let Some(cycle) = self.cycle_from(start, limit, &mut from) {
                best = cycle;
            }
        }
        best
    }

    /// A shortest cycle from `start` without lower nodes, if there is one of fewer than `limit`
    /// nodes. `from` holds `u32::MAX` for all nodes, before and after.
    fn cycle_from(&self, start: u32, limit: usize, from: &mut [u32]) -> Option<Vec<u32>> {
        let mut queue = VecDeque::from([(start, 1)]);
        let mut reached = Vec::new();
        let mut last = None;
        'search: while let Some((node, length)) = queue.pop_front() {
            if length >= limit {
                break;
            }
            for &next in self.of(node) {
                if next == start {
                    last = Some(node);
                    break 'search;
                }
                if next > start && from[next as usize] == u32::MAX {
                    from[next as usize] = node;
                    reached.push(next);
                    queue.push_back((next, length + 1));
                }
            }
        }
        let cycle = last.map(|mut node| {
            let mut cycle = vec![node];
            while node != start {
                node = from[node as usize];
                cycle.push(node);
            }
            cycle.reverse();
            cycle
        });
        reached.into_iter().for_each(|node| from[node as usize] = u32::MAX);
        cycle
    }

    /// Arcs of a knot that break all of its cycles when removed: the arcs that lead backwards in an
    /// order made by the heuristic of Eades, Lin and Smyth (1993). To find the fewest is NP-hard.
    #[must_use]
    pub fn feedback(&self, knot: &[u32]) -> Vec<(u32, u32)> {
        let place = self.order(knot);
        let arcs = knot.iter().flat_map(|&from| self.of(from).iter().map(move |&to| (from, to)));
        let backwards = |&(from, to): &(u32, u32)| {
            let (from, to) = (knot.binary_search(&from), knot.binary_search(&to));
            matches!((from, to), (Ok(from), Ok(to)) if place[from] >= place[to])
        };
        arcs.filter(backwards).collect()
    }

    /// The place of each node of a knot in an order with few backward arcs. A node without outgoing
    /// arcs to the rest goes to the end. Otherwise the node with the largest surplus of outgoing
    /// arcs goes to the beginning; a node without incoming arcs comes first.
    fn order(&self, knot: &[u32]) -> Vec<usize> {
        let inner = |node: u32| {
            self.of(node).iter().filter_map(|to| knot.binary_search(to).ok()).collect::<Vec<_>>()
        };
        let successors: Vec<Vec<usize>> = knot.iter().map(|&node| inner(node)).collect();
        let mut predecessors = vec![Vec::new(); knot.len()];
        for (from, all) in successors.iter().enumerate() {
            all.iter().for_each(|&to| predecessors[to].push(from));
        }
        let mut degrees: Vec<(usize, usize)> = successors
            .iter()
            .zip(&predecessors)
            .map(|(leaving, entering)| (leaving.len(), entering.len()))
            .collect();
        // Nodes without incoming arcs first, then by the surplus of outgoing arcs.
        let key = |node: usize, (leaving, entering): (usize, usize)| {
            (Reverse((entering == 0, leaving as isize - entering as isize)), node)
        };
        let mut rest: BTreeSet<_> = (0..knot.len()).map(|node| key(node, degrees[node])).collect();
        let mut sinks: BTreeSet<usize> =
            (0..knot.len()).filter(|&node| degrees[node].0 == 0).collect();
        let mut place = vec![usize::MAX; knot.len()];
        let (mut begin, mut end) = (0, knot.len());
        while let Some(&(_, greatest)) = rest.first() {
            let node = match sinks.pop_first() {
                Some(sink) => {
                    end -= 1;
                    place[sink] = end;
                    sink
                }
                None => {
                    place[greatest] = begin;
                    begin += 1;
                    greatest
                }
            };
            rest.remove(&key(node, degrees[node]));
            let mut lose = |other: usize, arc: (usize, usize)| {
                if place[other] != usize::MAX {
                    return;
                }
                rest.remove(&key(other, degrees[other]));
                degrees[other].0 -= arc.0;
                degrees[other].1 -= arc.1;
                rest.insert(key(other, degrees[other]));
                if degrees[other].0 == 0 {
                    sinks.insert(other);
                }
            };
            successors[node].iter().for_each(|&other| lose(other, (0, 1)));
            predecessors[node].iter().for_each(|&other| lose(other, (1, 0)));
        }
        place
    }
}

/// The state of Tarjan's search, without recursion, because a path may visit every node.
struct Tarjan {
    /// The order in which each node was first seen, from 1 on; 0: not seen.
    index: Vec<u32>,
    /// The earliest node of its component known to be reachable from it.
    low: Vec<u32>,
    stacked: Vec<bool>,
    stack: Vec<u32>,
    count: u32,
    found: Vec<Vec<u32>>,
}

impl Tarjan {
    fn new(nodes: usize) -> Self {
        let (index, low, stacked) = (vec![0; nodes], vec![0; nodes], vec![false; nodes]);
        Self { index, low, stacked, stack: Vec::new(), count: 0, found: Vec::new() }
    }

    fn enter(&mut self, node: u32) -> Visit {
        self.count += 1;
        self.index[node as usize] = self.count;
        self.low[node as usize] = self.count;
        self.stacked[node as usize] = true;
        self.stack.push(node);
        Visit { node, next: 0 }
    }

    fn visit(&mut self, graph: &Digraph, start: u32) {
        if self.index[start as usize] != 0 {
            return;
        }
        let mut path = vec![self.enter(start)];
        while let Some(visit) = path.last_mut() {
            let node = visit.node as usize;
            if let Some(&next) = graph.of(visit.node).get(visit.next as usize) {
                visit.next += 1;
                if self.index[next as usize] == 0 {
                    path.push(self.enter(next));
                } else if self.stacked[next as usize] {
                    self.low[node] = self.low[node].min(self.index[next as usize]);
                }
                continue;
            }
            path.pop();
            if let Some(before) = path.last() {
                let before = before.node as usize;
                self.low[before] = self.low[before].min(self.low[node]);
            }
            if self.low[node] == self.index[node] {
                self.close(node as u32);
            }
        }
    }

    /// A component is complete: all nodes put on the stack since its first node.
    fn close(&mut self, node: u32) {
        let begin = self.stack.iter().rposition(|&other| other == node).unwrap_or(0);
        let component = self.stack.split_off(begin);
        component.iter().for_each(|&member| self.stacked[member as usize] = false);
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All simple cycles by brute force, each from its lowest node.
    fn all_cycles(nodes: u32, arcs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        fn extend(arcs: &[(u32, u32)], path: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
            let (start, last) = (path[0], path[path.len() - 1]);
            for &(_, to) in arcs.iter().filter(|&&(from, _)| from == last) {
                if to == start {
                    found.push(path.clone());
                } else if to > start && !path.contains(&to) {
                    path.push(to);
                    extend(arcs, path, found);
                    path.pop();
                }
            }
        }
        let mut found = Vec::new();
        (0..nodes).for_each(|start| extend(arcs, &mut vec![start], &mut found));
        found
    }

    fn arcs() -> impl Strategy<Value = Vec<(u32, u32)>> {
        prop::collection::vec((0u32..7, 0u32..7), 0..16).prop_map(|mut arcs| {
            arcs.sort_unstable();
            arcs.dedup();
            arcs
        })
    }

    proptest! {
        /// Compares with the enumeration of all cycles: the same nodes lie on cycles together, and
        /// the cycle returned is one of the shortest.
        #[test]
        fn knots_are_what_cycles_lie_in(arcs in arcs()) {
            let cycles = all_cycles(7, &arcs);
            let graph = Digraph::new(7, arcs.iter().rev().copied().collect());
            let knots = graph.knots();
            let knot_of = |node: &u32| knots.iter().position(|knot| knot.contains(node));
            for cycle in &cycles {
                prop_assert!(knot_of(&cycle[0]).is_some());
                prop_assert!(cycle.iter().all(|node| knot_of(node) == knot_of(&cycle[0])));
            }
            for (number, knot) in knots.iter().enumerate() {
                for node in knot {
                    prop_assert!(cycles.iter().any(|cycle| cycle.contains(node)));
                }
                let own = cycles.iter().filter(|cycle| knot_of(&cycle[0]) == Some(number));
                let shown = graph.shortest_cycle(knot);
                prop_assert!(cycles.contains(&shown), "{shown:?} is no cycle");
                prop_assert_eq!(Some(shown.len()), own.map(Vec::len).min());
            }
        }

        /// Without its feedback arcs a graph has no cycle, and no arc outside the knots is among
        /// them.
        #[test]
        fn without_feedback_arcs_there_is_no_cycle(arcs in arcs()) {
            let graph = Digraph::new(7, arcs.clone());
            let knots = graph.knots();
            let feedback: Vec<_> = knots.iter().flat_map(|knot| graph.feedback(knot)).collect();
            let rest: Vec<_> = arcs.iter().filter(|arc| !feedback.contains(arc)).copied().collect();
            prop_assert!(all_cycles(7, &rest).is_empty());
            for (from, to) in &feedback {
                prop_assert!(knots.iter().any(|knot| knot.contains(from) && knot.contains(to)));
            }
            prop_assert_eq!(feedback.is_empty(), knots.is_empty());
        }
    }

    #[test]
    fn a_ring_loses_one_arc() {
        let ring: Vec<(u32, u32)> = (0..5).map(|node| (node, (node + 1) % 5)).collect();
        let graph = Digraph::new(5, ring);
        assert_eq!(graph.knots(), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(graph.shortest_cycle(&graph.knots()[0]), [0, 1, 2, 3, 4]);
        assert_eq!(graph.feedback(&graph.knots()[0]).len(), 1);
    }

    #[test]
    fn a_long_chain_is_searched_without_recursion() {
        let chain: Vec<(u32, u32)> = (0..200_000).map(|node| (node, node + 1)).collect();
        assert!(Digraph::new(200_001, chain).knots().is_empty());
    }
}
