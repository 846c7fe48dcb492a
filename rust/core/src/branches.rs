//! Which branch of a transcript is alive.
//!
//! Entries name the one that they answer. A rewind, an edited prompt or a retry names an earlier one again, and what
//! stood behind that is left. The rule is that of the vendor's own reader (claude-agent-sdk), tree by tree:
//! ```text
//! a tree begins at an entry whose parent is none, or not in the file
//! its ends are the entries that nobody names; each stands for the nearest message at or above it
//! of these messages the latest that is neither a subagent's nor the program's, else the latest, is the leaf
//! alive: the way from the leaf up to the root, and what stands between the leaf and its ends
//!        assistant entries that share their message's id with one of these (tools called side by side)
//!        results whose parent is one of these, or that answer a call of them
//! ```
//! A tree without a message has no leaf, and all of it is alive. Parents may stand behind their children, and lead round
//! in a circle: such a circle is the root of its tree.
//!
//! Every entry takes part, also those that are dropped as noise: the ways lead through them. Of each there is one
//! [`Link`] of 24 bytes, so that nothing has to be read twice and a pipe is read as well as a file. Of the noise only
//! the two ids are looked for, and they are not decoded with the rest of it (`agents/claude_code/links.rs`).
//!
//! In nearly every file all is alive, and one pass from its end tells that (`branches/unbroken.rs`). Only where it does
//! not are the trees built.

#[cfg(test)]
mod slow;
mod unbroken;

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

/// No entry, in a table of places.
const NONE: u32 = u32::MAX;
/// An entry whose root is looked for just now.
const ON_WAY: u32 = NONE - 1;

/// An entry's id, which is only compared: a hash of how it is spelled. Two of a million have the same with a chance of
/// one in ten million, and then a branch may be taken for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Node(u64);

impl Node {
    /// That of the id spelled `id`; [`Node::default`] when it is empty.
    #[inline]
    #[must_use]
    pub fn of(id: &[u8]) -> Self {
        match id.try_into() {
            Ok(id) => Self::of_usual(id),
            Err(_) if id.is_empty() => Self::default(),
            Err(_) => {
                let mut hasher = FxHasher::default();
                hasher.write(id);
                Self(hasher.finish() | 1)
            }
        }
    }

    /// That of an id of the usual form that is written as `id`; `None` where it has another. What is between the dashes
    /// is not looked at: it is compared as it is written.
    #[inline]
    #[must_use]
    pub fn written(id: &[u8]) -> Option<Self> {
        let id: &[u8; 36] = id.try_into().ok()?;
        let dashes = [id[8], id[13], id[18], id[23]];
        (dashes == [b'-'; 4]).then(|| Self::of_usual(id))
    }

    /// That of an id of the usual length.
    #[inline]
    fn of_usual(id: &[u8; 36]) -> Self {
        const KEYS: [u64; 5] = [
            0x9E37_79B9_7F4A_7C15,
            0xBF58_476D_1CE4_E5B9,
            0x94D0_49BB_1331_11EB,
            0xD6E8_FEB8_6659_FD93,
            0xA076_1D64_78BD_642F,
        ];
        let (words, rest) = id.as_chunks::<8>();
        let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
        let rest = rest.iter().fold(0, |rest, &byte| rest << 8 | u64::from(byte));
        let folded = |one: u64, other: u64| {
            let product = u128::from(one) * u128::from(other);
            (product >> 64) as u64 ^ product as u64
        };
        let first = folded(word(0) ^ KEYS[0], word(1) ^ KEYS[1]);
        let second = folded(word(2) ^ KEYS[2], word(3) ^ KEYS[3]);
        Self(folded(first ^ rest, second ^ KEYS[4]) | 1)
    }

    fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// A message's or a call's id, which is only compared.
#[must_use]
pub fn mark(id: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(id.as_bytes());
    hasher.finish()
}

/// What part an entry has in the tree that a transcript is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A user entry, which may hold results.
    User,
    /// An assistant entry.
    Assistant,
    /// Any other.
    Other,
}

/// An entry that takes part.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    id: Node,
    parent: Node,
    part: Part,
    /// Whether it is neither a subagent's nor the program's own.
    main: bool,
    /// Whether it may be an event.
    tells: bool,
}

impl Link {
    /// One that is dropped.
    #[must_use]
    pub fn dropped(id: Node, parent: Node) -> Self {
        Self { id, parent, part: Part::Other, main: false, tells: false }
    }

    /// One of kind `part`; `main` when it is neither a subagent's nor the program's own.
    #[must_use]
    pub fn new(id: Node, parent: Node, part: Part, main: bool) -> Self {
        Self { id, parent, part, main, tells: false }
    }

    /// Whether it names no parent.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.parent.is_none()
    }

    fn is_message(&self) -> bool {
        self.part != Part::Other
    }
}

/// The entries of a file that take part, in order.
#[derive(Debug, Default)]
pub struct Branches {
    links: Vec<Link>,
    /// Assistant entries' message ids, calls that they make, and calls that results answer: with the entry's place.
    messages: Vec<(u32, u64)>,
    calls: Vec<(u32, u64)>,
    answers: Vec<(u32, u64)>,
    /// User entries that hold results.
    results: Vec<u32>,
}

impl Branches {
    /// Adds the next entry; says whether it takes part, which one without an id does not.
    #[inline]
    pub fn add(&mut self, link: Link) -> bool {
        let counts = !link.id.is_none() && self.links.len() < ON_WAY as usize;
        if counts {
            self.links.push(link);
        }
        counts
    }

    /// Which of `nodes` are entries here.
    #[must_use]
    pub fn among(&self, nodes: &FxHashSet<Node>) -> FxHashSet<Node> {
        if nodes.is_empty() {
            return FxHashSet::default();
        }
        self.links.iter().map(|link| link.id).filter(|id| nodes.contains(id)).collect()
    }

    /// The entry that was added last may be an event.
    pub fn last_tells(&mut self) {
        if let Some(last) = self.links.last_mut() {
            last.tells = true;
        }
    }

    /// It is part of the message whose [`mark`] this is.
    pub fn last_is_of(&mut self, message: u64) {
        self.messages.push((self.last(), message));
    }

    /// It makes a call.
    pub fn last_calls(&mut self, call: u64) {
        self.calls.push((self.last(), call));
    }

    /// It holds a result; of which call, when it says so.
    pub fn last_answers(&mut self, call: Option<u64>) {
        let last = self.last();
        if self.links[last as usize].part == Part::User {
            self.results.push(last);
            self.answers.extend(call.map(|call| (last, call)));
        }
    }

    fn last(&self) -> u32 {
        self.links.len().saturating_sub(1) as u32
    }

    /// The entries on branches that were left.
    #[must_use]
    pub fn dead(&self) -> FxHashSet<Node> {
        if unbroken::is_unbroken(&self.links, &self.messages) { FxHashSet::default() } else { self.left() }
    }

    fn left(&self) -> FxHashSet<Node> {
        let forest = Forest::of(&self.links);
        let mut alive = forest.chains(&self.links);
        self.add_parallel(&forest, &mut alive);
        let dead = self.links.iter().zip(&alive).zip(&forest.first);
        dead.filter(|((_, alive), first)| **first && !**alive).map(|((link, _), _)| link.id).collect()
    }

    /// Adds what was done side by side with the chains: the entries of the messages on them, and the results of those.
    fn add_parallel(&self, forest: &Forest, alive: &mut [bool]) {
        let is_assistant = |at: u32| self.links[at as usize].part == Part::Assistant && forest.first[at as usize];
        let on_chain = self.messages.iter().filter(|&&(at, _)| alive[at as usize] && is_assistant(at));
        let messages: FxHashSet<u64> = on_chain.map(|&(_, message)| message).collect();
        let side_by_side =
            self.messages.iter().filter(|&&(at, message)| is_assistant(at) && messages.contains(&message));
        let side_by_side: FxHashSet<u32> = side_by_side.map(|&(at, _)| at).collect();
        let calls = self.calls.iter().filter(|(at, _)| side_by_side.contains(at));
        let calls: FxHashSet<u64> = calls.map(|&(_, call)| call).collect();
        for &at in &side_by_side {
            alive[at as usize] = true;
        }
        for &at in &self.results {
            alive[at as usize] |= side_by_side.contains(&forest.parent[at as usize]);
        }
        for &(at, call) in &self.answers {
            alive[at as usize] |= calls.contains(&call);
        }
    }
}

/// The trees, by the places of their entries.
struct Forest {
    /// Whether the entry is the first of its id: others take no part.
    first: Vec<bool>,
    parent: Vec<u32>,
    /// The root; for a circle one of its entries.
    root: Vec<u32>,
    /// The nearest message at or above the entry.
    nearest: Vec<u32>,
    /// Whether nobody names the entry.
    end: Vec<bool>,
}

impl Forest {
    fn of(links: &[Link]) -> Self {
        let mut places: FxHashMap<Node, u32> = FxHashMap::default();
        places.reserve(links.len());
        let mut first = vec![false; links.len()];
        for (at, link) in links.iter().enumerate() {
            places.entry(link.id).or_insert_with(|| {
                first[at] = true;
                at as u32
            });
        }
        let mut end = first.clone();
        let mut parent = vec![NONE; links.len()];
        for (at, link) in links.iter().enumerate().filter(|(at, _)| first[*at]) {
            if let Some(&place) = places.get(&link.parent) {
                parent[at] = place;
                end[place as usize] = false;
            }
        }
        let mut forest = Self { root: vec![NONE; links.len()], nearest: vec![NONE; links.len()], first, parent, end };
        let mut way = Vec::new();
        for at in 0..links.len() {
            if !forest.first[at] {
                continue;
            }
            // Parents stand before their children but in odd files.
            let (root, nearest) = match forest.parent[at] as usize {
                above if above == NONE as usize => (at as u32, NONE),
                above if above < at => (forest.root[above], forest.nearest[above]),
                _ => {
                    forest.climb(links, at as u32, &mut way);
                    continue;
                }
            };
            forest.root[at] = root;
            forest.nearest[at] = if links[at].is_message() { at as u32 } else { nearest };
        }
        forest
    }

    /// Finds the root and the nearest message of `from` and of all on the way up to what is known.
    fn climb(&mut self, links: &[Link], from: u32, way: &mut Vec<u32>) {
        way.clear();
        let mut at = from;
        while at != NONE && self.root[at as usize] == NONE {
            self.root[at as usize] = ON_WAY;
            way.push(at);
            at = self.parent[at as usize];
        }
        let Some(&top) = way.last() else { return };
        let (root, mut nearest) = match at {
            NONE => (top, NONE),
            at if self.root[at as usize] != ON_WAY => (self.root[at as usize], self.nearest[at as usize]),
            // Round in a circle: what is nearest above its first entry is found on the first way round.
            circle => {
                let first = way.iter().position(|&place| place == circle).unwrap_or_default();
                let message = way[first..].iter().find(|&&place| links[place as usize].is_message());
                (circle, message.copied().unwrap_or(NONE))
            }
        };
        for &place in way.iter().rev() {
            if links[place as usize].is_message() {
                nearest = place;
            }
            self.root[place as usize] = root;
            self.nearest[place as usize] = nearest;
        }
    }

    /// Which entries are on their tree's living chain.
    fn chains(&self, links: &[Link]) -> Vec<bool> {
        // By root: the latest end that is the main line's, and the latest of all.
        let mut leaves = vec![[NONE; 2]; links.len()];
        let ends = || (0..links.len()).filter(|&at| self.end[at] && self.nearest[at] != NONE);
        for at in ends() {
            let nearest = self.nearest[at];
            let [main, any] = &mut leaves[self.root[at] as usize];
            let later = |leaf: u32| if leaf == NONE { nearest } else { leaf.max(nearest) };
            *any = later(*any);
            if links[nearest as usize].main {
                *main = later(*main);
            }
        }
        let leaf_of = |root: u32| {
            let [main, any] = leaves[root as usize];
            if main == NONE { any } else { main }
        };
        let mut alive = vec![false; links.len()];
        let mut mark_up = |from: u32| {
            let mut at = from;
            while at != NONE && !std::mem::replace(&mut alive[at as usize], true) {
                at = self.parent[at as usize];
            }
        };
        for at in ends().filter(|&at| leaf_of(self.root[at]) == self.nearest[at]) {
            mark_up(at as u32);
        }
        for (at, alive) in alive.iter_mut().enumerate() {
            *alive |= self.first[at] && leaf_of(self.root[at]) == NONE;
        }
        alive
    }
}
