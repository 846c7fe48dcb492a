//! The rule once more, as it is said: every walk is made anew, nothing is remembered. What the fast one finds is held
//! against this.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{Branches, Link, Node, Part, unbroken};

/// The entry and all above it, each once.
fn way_up(links: &[&Link], from: usize) -> Vec<usize> {
    let mut way = vec![from];
    while let Some(parent) = links.iter().position(|link| link.id == links[way[way.len() - 1]].parent) {
        if way.contains(&parent) {
            break;
        }
        way.push(parent);
    }
    way
}

/// What all entries of one tree have in common: the root, or the first entry of the circle that it begins with.
fn tree_of(links: &[&Link], from: usize) -> usize {
    let top = way_up(links, from)[way_up(links, from).len() - 1];
    if links.iter().any(|link| link.id == links[top].parent) {
        way_up(links, top).into_iter().min().unwrap_or(top)
    } else {
        top
    }
}

/// The places of the living among `links`, each the first of its id, and the place that each has in the file.
fn living(branches: &Branches, links: &[&Link], place: &[usize]) -> BTreeSet<usize> {
    let all = || 0..links.len();
    let nearest = |from: usize| way_up(links, from).into_iter().find(|&at| links[at].is_message());
    let is_end = |at: &usize| links.iter().all(|link| link.parent != links[*at].id);
    let mut alive = BTreeSet::new();
    for tree in all().map(|at| tree_of(links, at)).collect::<BTreeSet<_>>() {
        let ends: Vec<usize> = all().filter(|&at| tree_of(links, at) == tree).filter(is_end).collect();
        let messages: Vec<usize> = ends.iter().filter_map(|&end| nearest(end)).collect();
        let main = messages.iter().filter(|&&at| links[at].main).max();
        match main.or(messages.iter().max()) {
            None => alive.extend(all().filter(|&at| tree_of(links, at) == tree)),
            Some(&leaf) => {
                let own = ends.iter().filter(|&&end| nearest(end) == Some(leaf));
                alive.extend(own.flat_map(|&end| way_up(links, end)));
            }
        }
    }
    let named = |list: &[(u32, u64)], at: usize| -> Vec<u64> {
        list.iter().filter(|(of, _)| *of as usize == place[at]).map(|&(_, mark)| mark).collect()
    };
    let is_assistant = |at: usize| links[at].part == Part::Assistant;
    let on_chain: Vec<u64> =
        alive.iter().filter(|&&at| is_assistant(at)).flat_map(|&at| named(&branches.messages, at)).collect();
    let is_part = |at: &usize| {
        is_assistant(*at) && named(&branches.messages, *at).iter().any(|message| on_chain.contains(message))
    };
    let parts: Vec<usize> = all().filter(is_part).collect();
    let calls: Vec<u64> = parts.iter().flat_map(|&at| named(&branches.calls, at)).collect();
    alive.extend(all().filter(|&at| {
        let answered =
            branches.results.contains(&(place[at] as u32)) && parts.iter().any(|&of| links[of].id == links[at].parent);
        answered || named(&branches.answers, at).iter().any(|call| calls.contains(call))
    }));
    alive.extend(parts);
    alive
}

fn dead_slowly(branches: &Branches) -> BTreeSet<Node> {
    let is_first = |at: &usize| branches.links[..*at].iter().all(|link| link.id != branches.links[*at].id);
    let place: Vec<usize> = (0..branches.links.len()).filter(is_first).collect();
    let links: Vec<&Link> = place.iter().map(|&at| &branches.links[at]).collect();
    let alive = living(branches, &links, &place);
    (0..links.len()).filter(|at| !alive.contains(at)).map(|at| links[at].id).collect()
}

fn node(number: u8) -> Node {
    if number == 0 { Node::default() } else { Node::of(format!("entry {number}").as_bytes()) }
}

/// An entry: id, parent, part, whether it is the main line's, message, call.
type Made = (u8, u8, u8, bool, u64, u64);

fn branches_of(entries: &[Made]) -> Branches {
    let mut branches = Branches::default();
    for &(id, parent, part, main, message, call) in entries {
        let part = [Part::User, Part::Assistant, Part::Other][usize::from(part)];
        if !branches.add(Link::new(node(id), node(parent), part, main)) {
            continue;
        }
        match (part, message) {
            (Part::Assistant, _) => {
                branches.last_tells();
                if message > 0 {
                    branches.last_is_of(message);
                }
                branches.last_calls(call);
            }
            (Part::User, 0..3) | (Part::Other, 0) => branches.last_tells(),
            (Part::User, _) => branches.last_answers(Some(call)),
            _ => {}
        }
    }
    branches
}

/// Entries that mostly follow on each other, as a session's do, and now and then on anything.
fn any_entries() -> impl Strategy<Value = Vec<Made>> {
    let entry = (0_u8..40, 0_u8..6, 0_u8..3, 0_u8..9, 0_u64..6, 0_u64..8);
    proptest::collection::vec(entry, 0..26).prop_map(|made| {
        let one = |(at, (odd, back, part, main, message, call)): (usize, (u8, u8, u8, u8, u64, u64))| {
            let id = at as u8 + 1;
            let parent = match odd {
                0 => 0,
                // Behind it, or not in the file.
                1 | 2 => (id * 7 + back * 11) % 40,
                3..12 => id.saturating_sub(1 + back),
                _ => id - 1,
            };
            let id = if odd == 2 { id.saturating_sub(back).max(1) } else { id };
            (id, parent, part, main > 0, message, call)
        };
        made.into_iter().enumerate().map(one).collect()
    })
}

proptest! {
    #[test]
    fn the_same_is_dead(entries in any_entries()) {
        let branches = branches_of(&entries);
        let expected = dead_slowly(&branches);
        let left: BTreeSet<Node> = branches.left().into_iter().collect();
        prop_assert_eq!(&left, &expected);
        let tells = |node: &&Node| branches.links.iter().any(|link| link.id == **node && link.tells);
        if unbroken::is_unbroken(&branches.links, &branches.messages) {
            prop_assert_eq!(expected.iter().filter(tells).count(), 0);
        }
    }
}

/// Entries by what they are: `u1<a1` is a user entry that answers a1; `m` is the program's own, `r` a result, `p`
/// noise, `q` queued words. Assistant entries of one number share a message.
fn dead(entries: &[&str]) -> (Vec<String>, bool) {
    let mut branches = Branches::default();
    let names: Vec<&str> = entries.iter().map(|entry| entry.split('<').next().unwrap_or_default()).collect();
    for entry in entries {
        let (name, parent) = entry.split_once('<').unwrap_or((entry, ""));
        let part = match &name[..1] {
            "u" | "m" | "r" => Part::User,
            "a" => Part::Assistant,
            _ => Part::Other,
        };
        branches.add(Link::new(Node::of(name.as_bytes()), Node::of(parent.as_bytes()), part, !name.starts_with('m')));
        match &name[..1] {
            "a" => {
                branches.last_tells();
                branches.last_is_of(u64::from(name.as_bytes()[1]));
            }
            "u" | "q" => branches.last_tells(),
            "r" => branches.last_answers(None),
            _ => {}
        }
    }
    let unbroken = unbroken::is_unbroken(&branches.links, &branches.messages);
    let dead = branches.dead();
    let is_dead = |name: &&&str| !name.starts_with('p') && dead.contains(&Node::of(name.as_bytes()));
    (names.iter().filter(is_dead).map(|&name| name.to_owned()).collect(), unbroken)
}

#[test]
fn a_branch_is_dead_where_the_session_went_on_elsewhere() {
    for (name, entries, expected, unbroken) in [
        ("one line", &["u1", "a1<u1", "p1<a1", "u2<p1", "a2<u2"][..], &[][..], true),
        ("a prompt taken back", &["u1", "a1<u1", "u2<a1", "u3<a1", "a3<u3"], &["u2"], false),
        ("the last prompt", &["u1", "a1<u1", "u2<a1"], &[], true),
        ("a rewind over noise", &["u1", "a1<u1", "p1<a1", "u2<p1", "a2<u2", "p2<a1", "u3<p2"], &["u2", "a2"], false),
        ("calls side by side", &["u1", "a1<u1", "a1b<a1", "r1<a1", "r2<a1b", "a2<r2"], &[], true),
        ("calls that fork", &["u1", "a1<u1", "a1b<u1", "r1<a1", "r2<a1b", "a2<r2"], &[], true),
        ("another message forks", &["u1", "a1<u1", "a9<u1", "r1<a1", "r2<a9", "a2<r1"], &["a9", "r2"], false),
        ("two trees", &["u1", "a1<u1", "u2", "a2<u2"], &[], true),
        ("a parent elsewhere", &["u1<x", "a1<u1", "u2<x", "a2<u2"], &[], false),
        ("words queued behind the last", &["u1", "a1<u1", "q1<a1", "p1<q1"], &[], true),
        ("words queued on a branch", &["u1", "a1<u1", "q1<a1", "u2<a1"], &["q1"], false),
        ("the program's own last", &["u1", "a1<u1", "u2<a1", "m1<u2"], &[], false),
        ("a child before its parent", &["a1<u1", "u1", "u2<a1"], &[], false),
        ("an id twice", &["u1", "a1<u1", "p1<a1", "p1<u1", "u2<p1"], &[], false),
    ] {
        assert_eq!(dead(entries), (expected.iter().map(|&name| name.to_owned()).collect(), unbroken), "{name}");
    }
}
