//! Whether all of a file is alive, told in one pass from its end, without building its trees.
//!
//! ```text
//! from the last entry to the first:
//!   its id is waited for     -> it is on that way; its parent is waited for in its place
//!   else it is a message     -> the end of a new way
//!   else                     -> nobody needs it (most noise)
//!   a parent that is waited for already -> two ways meet: the one with the later message is the tree's, the other is lost
//! all is alive if every way that was lost holds nothing but results, and parts of messages that are also on a way that
//! was not
//! ```
//! This holds where parents stand before their children, ids are unique, and the last message of a tree is the main
//! line's, so that it is the leaf whatever ends there are in the noise. Anything else is seen, and then `false` says that
//! the trees have to be built.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Link, NONE, Node, Part};

/// Entries for which there is room from the start.
const MOST_AT_FIRST: usize = 1 << 16;

/// From a message, or from queued words, up to a root or to where a later one is met.
struct Way {
    /// The latest message.
    leaf: u32,
    /// Whether a message of the main line is on it, or on one that was lost to it.
    has_main: bool,
    lost: bool,
}

/// A set of nodes, which are hashes already.
struct Met {
    /// A power of two of places, of which half are in use at the most.
    places: Vec<Node>,
    count: usize,
}

impl Met {
    fn for_about(count: usize) -> Self {
        Self { places: vec![Node::default(); (count * 2).next_power_of_two().max(16)], count: 0 }
    }

    /// The place of `node`, or the one where it would be put.
    #[inline]
    fn place(&self, node: Node) -> usize {
        let mask = self.places.len() - 1;
        let mut at = (node.0 >> 8) as usize & mask;
        while self.places[at] != node && !self.places[at].is_none() {
            at = (at + 1) & mask;
        }
        at
    }

    #[inline]
    fn contains(&self, node: Node) -> bool {
        self.places[self.place(node)] == node
    }

    /// Adds `node`; `false` when it was there.
    #[inline]
    fn insert(&mut self, node: Node) -> bool {
        let at = self.place(node);
        if self.places[at] == node {
            return false;
        }
        self.places[at] = node;
        self.count += 1;
        if self.count * 2 > self.places.len() {
            let larger = Self::for_about(self.places.len());
            for node in std::mem::replace(self, larger).places.into_iter().filter(|node| !node.is_none()) {
                self.insert(node);
            }
        }
        true
    }
}

struct Sweep<'l> {
    links: &'l [Link],
    ways: Vec<Way>,
    /// The parents of what was met on each way, but for `next`.
    awaited: FxHashMap<Node, usize>,
    /// The parent of what was met last, and its way: most entries follow on each other.
    next: Option<(Node, usize)>,
    met: Met,
    /// Parents at which ways met.
    meetings: Vec<Node>,
    /// Entries that tell something, and messages, with their ways.
    told: Vec<(u32, usize)>,
}

/// Whether it is sure that all is alive; `messages` are the places of assistant entries with their messages' marks.
pub(super) fn is_unbroken(links: &[Link], messages: &[(u32, u64)]) -> bool {
    let mut sweep = Sweep {
        links,
        ways: Vec::new(),
        awaited: FxHashMap::default(),
        next: None,
        met: Met::for_about(links.len().min(MOST_AT_FIRST)),
        meetings: Vec::new(),
        told: Vec::new(),
    };
    (0..links.len()).rev().all(|at| sweep.step(at)) && sweep.roots_are_sure() && sweep.nothing_is_lost(messages)
}

impl Sweep<'_> {
    /// Takes the entry at `at`; `false` when something is not as it should be.
    fn step(&mut self, at: usize) -> bool {
        let link = &self.links[at];
        let way = match self.next {
            Some((node, way)) if node == link.id => {
                self.next = None;
                way
            }
            _ => match self.awaited.remove(&link.id) {
                Some(way) => way,
                // An id that is there twice.
                None if self.met.contains(link.id) => return false,
                None if !link.is_message() && !link.tells => return true,
                None => {
                    self.ways.push(Way { leaf: NONE, has_main: false, lost: false });
                    self.ways.len() - 1
                }
            },
        };
        if !self.met.insert(link.id) {
            return false;
        }
        if link.is_message() || link.tells {
            self.told.push((at as u32, way));
        }
        if link.is_message() {
            let way = &mut self.ways[way];
            if way.leaf == NONE {
                way.leaf = at as u32;
            }
            way.has_main |= link.main;
        }
        link.is_root() || self.wait(link.parent, way)
    }

    fn wait(&mut self, node: Node, way: usize) -> bool {
        let is_next = self.next.is_some_and(|(next, _)| next == node);
        let other = self.next.filter(|_| is_next).map(|(_, other)| other);
        let Some(other) = other.or_else(|| self.awaited.get(&node).copied()) else {
            self.awaited.extend(self.next.replace((node, way)));
            return true;
        };
        self.meetings.push(node);
        let leaf = |way: usize| Some(self.ways[way].leaf).filter(|&leaf| leaf != NONE);
        let (kept, lost) = if leaf(way) > leaf(other) { (way, other) } else { (other, way) };
        self.ways[lost].lost = true;
        self.ways[kept].has_main |= self.ways[lost].has_main;
        if is_next {
            self.next = Some((node, kept));
        } else {
            self.awaited.insert(node, kept);
        }
        true
    }

    /// Whether parents that were not met are nowhere in the file, so that trees begin there.
    fn roots_are_sure(&self) -> bool {
        let open: FxHashSet<Node> = self.awaited.keys().copied().chain(self.next.map(|(node, _)| node)).collect();
        let is_open = |node: &Node| open.contains(node);
        // Two ways that seemed to meet there are two trees.
        !self.meetings.iter().any(is_open) && (open.is_empty() || !self.links.iter().any(|link| is_open(&link.id)))
    }

    fn nothing_is_lost(&self, messages: &[(u32, u64)]) -> bool {
        let is_main = |leaf: u32| leaf == NONE || self.links[leaf as usize].main;
        if self.ways.iter().any(|way| !way.lost && way.has_main && !is_main(way.leaf)) {
            return false;
        }
        let lost = self.told.iter().filter(|&&(at, way)| self.ways[way].lost && self.links[at as usize].tells);
        let message_of = |at: u32| {
            let place = messages.binary_search_by_key(&at, |&(place, _)| place).ok()?;
            Some(messages[place].1)
        };
        let mut wanted = FxHashSet::default();
        for &(at, _) in lost {
            match message_of(at).filter(|_| self.links[at as usize].part == Part::Assistant) {
                Some(message) => wanted.insert(message),
                None => return false,
            };
        }
        if !wanted.is_empty() {
            for &(at, _) in self.told.iter().filter(|&&(_, way)| !self.ways[way].lost) {
                if let Some(message) = message_of(at) {
                    wanted.remove(&message);
                }
            }
        }
        wanted.is_empty()
    }
}
