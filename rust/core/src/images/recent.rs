//! Images that were judged before, by their characters: a repetition is neither decoded nor hashed again.
//!
//! Agents write most images twice: for the model and for their own screen, again at each compaction. What decides is
//! that all characters are the same; the sketch that an earlier image is found by decides nothing.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// How many characters are copied to be compared with.
const MOST_COPIED: usize = 4 << 20;

/// Where a sketch's part is taken: behind the header, which many images share.
const PART: Range<usize> = 64..96;

/// The length and a part of the characters.
type Sketch = (usize, [u8; PART.end - PART.start]);

enum Characters {
    Copied(Box<[u8]>),
    /// In the text that is in memory as a whole.
    Place(Range<usize>),
}

/// What is known of images that were seen before, by their characters.
pub struct Recent<T> {
    /// The latest image of each sketch.
    known: HashMap<Sketch, (Characters, T)>,
    /// Of those that were copied, the oldest first.
    copied: VecDeque<Sketch>,
    length: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { known: HashMap::new(), copied: VecDeque::new(), length: 0 }
    }
}

impl<T> Recent<T> {
    /// What is known of the image with these characters. `whole` is the text that places are in.
    pub fn get(&self, whole: &[u8], characters: &[u8]) -> Option<&T> {
        let (seen, known) = self.known.get(&sketch(characters)?)?;
        let seen = match seen {
            Characters::Copied(copy) => copy,
            Characters::Place(place) => whole.get(place.clone())?,
        };
        (seen == characters).then_some(known)
    }

    /// Remembers the image at `place` of a text that stays in memory as long as this.
    pub fn remember_place(&mut self, whole: &[u8], place: Range<usize>, known: T) {
        if let Some(sketch) = whole.get(place.clone()).and_then(sketch) {
            self.known.insert(sketch, (Characters::Place(place), known));
        }
    }

    /// Remembers an image for as long as there is room.
    pub fn remember_copy(&mut self, characters: &[u8], known: T) {
        let Some(sketch) = sketch(characters).filter(|_| characters.len() <= MOST_COPIED) else { return };
        if !self.known.contains_key(&sketch) {
            self.copied.push_back(sketch);
            self.length += characters.len();
        }
        while self.length > MOST_COPIED {
            let Some(oldest) = self.copied.pop_front() else { break };
            self.length -= oldest.0;
            self.known.remove(&oldest);
        }
        self.known.insert(sketch, (Characters::Copied(characters.into()), known));
    }
}

/// None for what is too short to be worth remembering.
fn sketch(characters: &[u8]) -> Option<Sketch> {
    Some((characters.len(), characters.get(PART)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_characters_are_the_same_image() {
        let one = vec![b'A'; 300];
        let mut other = one.clone();
        other[200] = b'B';
        let mut recent = Recent::default();
        recent.remember_copy(&one, 1);
        assert_eq!(
            (recent.get(&[], &one), recent.get(&[], &other), recent.get(&[], &one[..299])),
            (Some(&1), None, None)
        );
        recent.remember_copy(&other, 2);
        assert_eq!((recent.get(&[], &one), recent.get(&[], &other)), (None, Some(&2)));
        recent.remember_copy(b"short", 3);
        assert_eq!(recent.get(&[], b"short"), None);
    }

    #[test]
    fn places_are_compared_with_what_stands_there() {
        let text = [vec![b'A'; 300], vec![b'A'; 299], vec![b'B'; 1]].concat();
        let mut recent = Recent::default();
        recent.remember_place(&text, 0..300, 1);
        assert_eq!((recent.get(&text, &text[..300]), recent.get(&text, &text[300..])), (Some(&1), None));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut recent = Recent::default();
        let image = |number: usize| {
            let mut characters = vec![b'A'; MOST_COPIED / 4];
            characters[PART][..8].copy_from_slice(format!("{number:08}").as_bytes());
            characters
        };
        for number in 0..20 {
            recent.remember_copy(&image(number), number);
            recent.remember_copy(&image(number), number);
            assert!(recent.length <= MOST_COPIED && recent.copied.len() == recent.known.len());
        }
        assert_eq!((recent.get(&[], &image(15)), recent.get(&[], &image(16))), (None, Some(&16)));
        recent.remember_copy(&vec![b'A'; MOST_COPIED + 1], 100);
        assert_eq!(recent.get(&[], &image(19)), Some(&19));
    }
}
