//! The members of a record by key, filled in on the one walk through it, so that nothing is walked through twice.
//!
//! ```text
//! tag   the first seven bytes of a key and its length: equal tags of short keys are equal keys
//! slot  six bits of the tag's hash: where the first member with such a tag is remembered
//! find  from the slot's first member on, the first one with the tag (and, for long keys, the key)
//! ```
//! A record has some twenty members, of which a dozen are asked for: comparing keys with each of them was a tenth of
//! the time of reading.

use std::ops::Range;

use super::scalar::MemberPlace;
use super::value::{Value, key_is};

/// A range of a record. Half the size of a `Range<usize>`: a line is never longer than [`crate::lines::LINE_LIMIT`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    #[inline]
    pub(super) const fn new(start: usize, end: usize) -> Self {
        Self { start: start as u32, end: end as u32 }
    }

    #[inline]
    const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A member of an object and where it stands in the record's bytes.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    tag: u64,
    key: Span,
    value: Span,
    /// Whether it is a member of a member.
    nested: bool,
}

impl Member {
    /// The member at `place` of `record`.
    #[inline]
    #[must_use]
    pub fn new(record: &[u8], place: &MemberPlace, nested: bool) -> Self {
        let span = |range: &Range<usize>| Span::new(range.start, range.end);
        Self { tag: tag_at(record, &place.key), key: span(&place.key), value: span(&place.value), nested }
    }

    /// The same of a member whose tag is known.
    #[inline]
    pub(super) const fn tagged(tag: u64, key: Span, value: Span, nested: bool) -> Self {
        Self { tag, key, value, nested }
    }

    /// The key, between its quotes.
    #[inline]
    #[must_use]
    pub fn key<'a>(&self, record: &'a [u8]) -> &'a [u8] {
        &record[self.key.range()]
    }

    /// The value.
    #[inline]
    #[must_use]
    pub fn value<'a>(&self, record: &'a [u8]) -> Value<'a> {
        Value::new(&record[self.value.range()])
    }

    /// Where the value stands.
    #[inline]
    #[must_use]
    pub fn value_place(&self) -> Range<usize> {
        self.value.range()
    }

    /// The [`tag`] of the key.
    #[inline]
    #[must_use]
    pub fn tag(&self) -> u64 {
        self.tag
    }
}

/// The length of a key and its first seven bytes: compared at once, and for keys of up to seven bytes no two are the
/// same.
#[inline]
#[must_use]
pub const fn tag(key: &[u8]) -> u64 {
    let (mut tag, mut at) = (0, if key.len() < TAG_BYTES { key.len() } else { TAG_BYTES });
    while at > 0 {
        at -= 1;
        tag = tag << 8 | key[at] as u64;
    }
    tag | (key.len() as u64) << 56
}

/// Bytes of a key that its tag holds.
const TAG_BYTES: usize = 7;

/// [`tag`], from the eight bytes with which a key of `length` bytes and what stands behind it begin.
#[inline]
pub(super) const fn tag_of(eight: [u8; 8], length: usize) -> u64 {
    let kept = if length < TAG_BYTES { length } else { TAG_BYTES };
    let mask = (1_u64 << (8 * kept)) - 1;
    u64::from_le_bytes(eight) & mask | (length as u64) << 56
}

/// The [`tag`] of the key at `place`. The bytes behind the key are read as well, which is faster than one by one.
#[inline]
fn tag_at(record: &[u8], place: &Range<usize>) -> u64 {
    let eight = record.get(place.start..).and_then(|rest| rest.first_chunk::<8>());
    eight.map_or_else(|| tag(&record[place.clone()]), |&eight| tag_of(eight, place.len()))
}

/// Tags of keys at which a run of members stops; 0 is no key's tag but that of the empty one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stops {
    /// Before a member with one of these.
    pub before: [u64; 2],
    /// Behind a member with this.
    pub behind: u64,
}

const SLOTS: usize = 64;

/// Members that a slot can name: of the ones behind them the first is looked for from here on.
const SLOTTED: usize = u8::MAX as usize;

/// The members found of a record, those of one of its members, and of the objects in a list in that.
pub struct MemberIndex {
    members: Vec<Member>,
    /// The number of the first member of each slot, from 1.
    first: [u8; SLOTS],
    pub(super) list: ObjectList,
}

/// A list of objects whose members are known.
#[derive(Default)]
pub(super) struct ObjectList {
    place: Option<Span>,
    objects: Vec<ObjectEntry>,
    members: Vec<Member>,
}

#[derive(Clone, Copy)]
struct ObjectEntry {
    place: Span,
    /// Of the list's members.
    members: Span,
}

impl ObjectList {
    /// Whether one has been noted of the record.
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.place.is_some()
    }

    /// Forgets what was begun.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.objects.clear();
        self.members.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, member: Member) {
        self.members.push(member);
    }

    /// How many members there are.
    #[inline]
    pub(super) fn members(&self) -> usize {
        self.members.len()
    }

    /// The object at `place` has all members from `from` on.
    #[inline]
    pub(super) fn end_object(&mut self, place: Span, from: usize) {
        self.objects.push(ObjectEntry { place, members: Span::new(from, self.members.len()) });
    }

    /// The list stands at `place`.
    #[inline]
    pub(super) fn end(&mut self, place: Span) {
        self.place = Some(place);
    }
}

impl Default for MemberIndex {
    fn default() -> Self {
        Self { members: Vec::new(), first: [0; SLOTS], list: ObjectList::default() }
    }
}

#[inline]
fn slot(tag: u64, nested: bool) -> usize {
    // The golden ratio spreads the bits (Knuth, "The Art of Computer Programming", 6.4).
    ((tag ^ u64::from(nested) << 63).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as usize
}

impl MemberIndex {
    /// Forgets all: a new record begins.
    #[inline]
    pub fn clear(&mut self) {
        self.members.clear();
        self.first = [0; SLOTS];
        self.list.place = None;
    }

    /// How many members there are.
    #[inline]
    #[must_use]
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The last member, if its tag is `tag`.
    #[inline]
    #[must_use]
    pub fn last_tagged(&self, tag: u64) -> Option<Member> {
        self.members.last().copied().filter(|member| member.tag == tag)
    }

    /// Adds a member.
    #[inline]
    pub fn push(&mut self, member: Member) {
        let first = &mut self.first[slot(member.tag, member.nested)];
        self.members.push(member);
        if *first == 0 && self.members.len() <= SLOTTED {
            *first = self.members.len() as u8;
        }
    }

    /// Takes the last member away.
    pub fn pop(&mut self) {
        if let Some(member) = self.members.pop() {
            let first = &mut self.first[slot(member.tag, member.nested)];
            if usize::from(*first) > self.members.len() {
                *first = 0;
            }
        }
    }

    /// Takes all members away but the first `length`.
    pub fn truncate(&mut self, length: usize) {
        while self.members.len() > length {
            self.pop();
        }
    }

    /// The value of the first member called `name`, whose tag is `wanted`.
    #[inline]
    #[must_use]
    pub fn find<'a>(&self, record: &'a [u8], wanted: u64, name: &str, nested: bool) -> Option<Value<'a>> {
        let from = match usize::from(self.first[slot(wanted, nested)]) {
            0 if self.members.len() <= SLOTTED => return None,
            0 => SLOTTED,
            first => first - 1,
        };
        let is_it = |member: &&Member| {
            member.tag == wanted
                && member.nested == nested
                && (name.len() <= TAG_BYTES || member.key(record) == name.as_bytes())
        };
        self.members[from..].iter().find(is_it).map(|member| member.value(record))
    }

    /// The same, where keys may be written with escapes.
    #[must_use]
    pub fn find_spelled<'a>(&self, record: &'a [u8], name: &str, nested: bool) -> Option<Value<'a>> {
        let mut members = self.members.iter();
        let member = members.find(|member| member.nested == nested && key_is(member.key(record), name))?;
        Some(member.value(record))
    }

    /// The objects of the list that `list` is, and the members of each, if they were noted.
    #[must_use]
    pub fn objects<'f, 'a>(
        &'f self,
        record: &'a [u8],
        list: Value<'a>,
    ) -> Option<impl Iterator<Item = (Value<'a>, &'f [Member])>> {
        let start = (list.raw().as_ptr() as usize).wrapping_sub(record.as_ptr() as usize);
        let place = self.list.place?.range();
        let is_it = start == place.start && list.raw().len() == place.len();
        is_it.then(|| {
            let object = |object: &ObjectEntry| {
                let whole = Value::new(&record[object.place.range()]);
                (whole, &self.list.members[object.members.range()])
            };
            self.list.objects.iter().map(object)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::super::{Members, search_plainly};
    use super::*;

    #[test]
    fn a_tag_is_the_same_however_it_is_made() {
        for key in [b"".as_slice(), b"a", b"type", b"message", b"parentUuid", b"toolUseResult"] {
            let record = [key, b"\":1}      "].concat();
            assert_eq!(tag_at(&record, &(0..key.len())), tag(key));
            assert_eq!(tag_at(key, &(0..key.len())), tag(key));
        }
    }

    /// The index of a record, filled in runs where there are such and one by one elsewhere.
    fn index_of(record: &[u8]) -> MemberIndex {
        let mut index = MemberIndex::default();
        let mut members = Members::open(record, 0).expect("an object");
        loop {
            members.run(Stops::default(), None, &mut index);
            match members.place().expect("a whole member") {
                Some(place) => index.push(Member::new(record, &place, false)),
                None => return index,
            }
        }
    }

    proptest! {
        #[test]
        fn what_a_map_finds_is_found(keys in proptest::collection::vec("[a-d]{0,9}|[a-z]{0,70}", 0..400), plainly: bool) {
            let members = keys.iter().enumerate().map(|(at, key)| format!("\"{key}\":{at}"));
            let record = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
            search_plainly(plainly);
            let index = index_of(record.as_bytes());
            search_plainly(false);
            let mut first = HashMap::new();
            for (at, key) in keys.iter().enumerate() {
                first.entry(key.as_str()).or_insert(at as u64);
            }
            prop_assert_eq!(index.count(), keys.len());
            for key in keys.iter().map(String::as_str).chain(["type", "parentUuid", "e", "aaaaaaaa"]) {
                let found = index.find(record.as_bytes(), tag(key.as_bytes()), key, false).and_then(Value::integer);
                prop_assert_eq!(found, first.get(key).copied());
                let spelled = index.find_spelled(record.as_bytes(), key, false).and_then(Value::integer);
                prop_assert_eq!(spelled, first.get(key).copied());
            }
        }

        #[test]
        fn what_is_taken_away_is_not_found(keys in proptest::collection::vec("[a-e]", 0..300), kept in 0_usize..300) {
            let members = keys.iter().enumerate().map(|(at, key)| format!("\"{key}\":{at}"));
            let record = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
            let mut index = index_of(record.as_bytes());
            index.truncate(kept);
            for key in ["a", "b", "c", "d", "e", "f"] {
                let expected = keys.iter().take(kept).position(|known| known == key).map(|at| at as u64);
                let found = index.find(record.as_bytes(), tag(key.as_bytes()), key, false).and_then(Value::integer);
                prop_assert_eq!(found, expected);
            }
        }
    }
}
