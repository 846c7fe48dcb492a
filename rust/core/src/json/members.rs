//! The walk over members and elements.

use std::ops::Range;

use super::index::{MemberIndex, Stops};
use super::scalar::{Broken, MemberPlace, skip_blank};
use super::scan::{self, value_end};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::simd;
use super::value::{Value, key_is};

impl<'a> Value<'a> {
    /// The value of the first member called `name`; `None` when there is none or this is not an object.
    #[must_use]
    pub fn get(self, name: &str) -> Option<Value<'a>> {
        self.find(name).unwrap_or(None)
    }

    /// The same, where it matters that the object could not be read up to there.
    ///
    /// # Errors
    /// [`Broken`] when it could not.
    pub fn find(self, name: &str) -> Result<Option<Value<'a>>, Broken> {
        let Some(mut members) = Members::open(self.raw(), 0) else { return Ok(None) };
        while let Some((key, value)) = members.member()? {
            if key_is(key, name) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The members of an object; empty for every other value.
    pub fn members(self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        let mut members = Members::open(self.raw(), 0);
        std::iter::from_fn(move || members.as_mut()?.member().ok()?)
    }

    /// The elements of an array that are objects, with the members of each given to `member`, all in one pass;
    /// the result of `begin` is what `member` fills, and goes to `end` with the element; elements of other kinds go
    /// there alone. Nothing for every other value.
    ///
    /// # Errors
    /// [`Broken`] where the array or one of the objects cannot be read on.
    pub fn each_object<T>(
        self,
        mut begin: impl FnMut() -> T,
        mut member: impl FnMut(&mut T, &'a [u8], Value<'a>),
        mut end: impl FnMut(Value<'a>, Option<T>),
    ) -> Result<(), Broken> {
        if !self.is_array() {
            return Ok(());
        }
        let mut elements = Elements { bytes: self.raw(), at: 1, first: true };
        while let Some(start) = elements.start()? {
            let mut filled = None;
            if let Some(mut members) = Members::open(self.raw(), start) {
                let mut object = begin();
                while let Some((key, value)) = members.member()? {
                    member(&mut object, key, value);
                }
                elements.at = members.at();
                filled = Some(object);
            } else {
                elements.skip(start)?;
            }
            end(Value::new(&self.raw()[start..elements.at]), filled);
        }
        Ok(())
    }

    /// The members of an object that may be cut off: the last one's value then goes on to the end.
    pub fn open_members(self) -> impl Iterator<Item = (&'a [u8], Value<'a>)> {
        let mut members = Members::open(self.raw(), 0);
        std::iter::from_fn(move || {
            let open = members.as_mut()?;
            let key = open.key().ok()??;
            let start = open.at();
            if let Ok(value) = open.value() {
                return Some((key, value));
            }
            members = None;
            Some((key, Value::new(&self.raw()[start..])))
        })
    }

    /// The elements of an array; empty for every other value.
    pub fn elements(self) -> impl Iterator<Item = Value<'a>> {
        let mut elements = self.is_array().then_some(Elements { bytes: self.raw(), at: 1, first: true });
        std::iter::from_fn(move || elements.as_mut()?.next().ok()?)
    }
}

/// Walks the members of one object in order: [`Members::key`], then [`Members::value`], again and again.
#[derive(Clone)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    first: bool,
}

impl<'a> Members<'a> {
    /// Starts at the `{` at `at`; `None` when there is none.
    #[must_use]
    pub fn open(bytes: &'a [u8], at: usize) -> Option<Self> {
        (bytes.get(at) == Some(&b'{')).then_some(Self { bytes, at: at + 1, first: true })
    }

    /// The place of the next key's opening quote; `None` at the closing brace, behind which [`Members::at`] then is.
    #[inline]
    fn start(&mut self) -> Result<Option<usize>, Broken> {
        let mut at = skip_blank(self.bytes, self.at);
        match self.bytes.get(at) {
            Some(b'}') => {
                self.at = at + 1;
                return Ok(None);
            }
            Some(b',') if !self.first => at = skip_blank(self.bytes, at + 1),
            Some(b'"') if self.first => {}
            _ => return Err(Broken),
        }
        self.first = false;
        Ok(Some(at))
    }

    /// Where the next key (between its quotes) and its value stand; `None` at the closing brace.
    ///
    /// # Errors
    /// [`Broken`] where no whole member stands.
    #[inline]
    pub fn place(&mut self) -> Result<Option<MemberPlace>, Broken> {
        let Some(start) = self.start()? else { return Ok(None) };
        let place = scan::member(self.bytes, start)?;
        self.at = place.value.end;
        Ok(Some(place))
    }

    /// Where the next key and its value stand, if that value is an object, without a step: the object is taken to go
    /// on to the end of the bytes.
    #[must_use]
    pub fn upcoming_object(&self) -> Option<MemberPlace> {
        let mut ahead = Members { bytes: self.bytes, at: self.at, first: self.first };
        let key = ahead.key_place().ok().flatten()?;
        let value = ahead.at..self.bytes.len();
        (self.bytes.get(ahead.at) == Some(&b'{')).then_some(MemberPlace { key, value })
    }

    /// The next key, raw, and its value; `None` at the closing brace.
    ///
    /// # Errors
    /// [`Broken`] where no whole member stands.
    #[inline]
    pub fn member(&mut self) -> Result<Option<(&'a [u8], Value<'a>)>, Broken> {
        let place = self.place()?;
        Ok(place.map(|MemberPlace { key, value }| (&self.bytes[key], Value::new(&self.bytes[value]))))
    }

    /// The next key, raw; `None` at the closing brace, behind which [`Members::at`] then is.
    ///
    /// # Errors
    /// [`Broken`] where no key can be read.
    pub fn key(&mut self) -> Result<Option<&'a [u8]>, Broken> {
        Ok(self.key_place()?.map(|place| &self.bytes[place]))
    }

    fn key_place(&mut self) -> Result<Option<Range<usize>>, Broken> {
        let Some(at) = self.start()? else { return Ok(None) };
        if self.bytes.get(at) != Some(&b'"') {
            return Err(Broken);
        }
        let end = scan::string_end(self.bytes, at)?;
        let colon = skip_blank(self.bytes, end);
        if self.bytes.get(colon) != Some(&b':') {
            return Err(Broken);
        }
        self.at = skip_blank(self.bytes, colon + 1);
        Ok(Some(at + 1..end - 1))
    }

    /// The value of the key just read.
    ///
    /// # Errors
    /// [`Broken`] where no whole value stands.
    pub fn value(&mut self) -> Result<Value<'a>, Broken> {
        let start = self.at;
        self.at = value_end(self.bytes, start)?;
        Ok(Value::new(&self.bytes[start..self.at]))
    }

    /// Pushes the next members to `index`, as many as are written in the usual way, up to where `stops` say. With
    /// `list`, they are members of a member, and where that tag's value is a list of objects, those are noted as well.
    ///
    /// It may push none: whatever is unusual is left to [`Members::place`], as is everything without vector
    /// instructions.
    #[inline]
    pub fn run(&mut self, stops: Stops, list: Option<u64>, index: &mut MemberIndex) {
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if simd::available() {
            let before = index.count();
            let begin = simd::RunStart { at: self.at, first: self.first };
            self.at = simd::run(self.bytes, begin, stops, list, index);
            self.first &= index.count() == before;
        }
    }

    /// Goes on behind a member whose place is known.
    pub fn step_over(&mut self, place: &MemberPlace) {
        self.first = false;
        self.at = place.value.end;
    }

    /// The bytes that the walk was opened on, to their end.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where the walk is, in the bytes it was opened on.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }
}

struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    first: bool,
}

impl<'a> Elements<'a> {
    /// Where the next element starts; `None` at the closing bracket.
    fn start(&mut self) -> Result<Option<usize>, Broken> {
        let mut at = skip_blank(self.bytes, self.at);
        match self.bytes.get(at) {
            Some(b']') => return Ok(None),
            Some(b',') if !self.first => at = skip_blank(self.bytes, at + 1),
            Some(_) if self.first => {}
            _ => return Err(Broken),
        }
        self.first = false;
        Ok(Some(at))
    }

    fn skip(&mut self, start: usize) -> Result<(), Broken> {
        self.at = value_end(self.bytes, start)?;
        Ok(())
    }

    fn next(&mut self) -> Result<Option<Value<'a>>, Broken> {
        let Some(start) = self.start()? else { return Ok(None) };
        self.skip(start)?;
        Ok(Some(Value::new(&self.bytes[start..self.at])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_equal_keys_counts() {
        let value = Value::new(br#"{"a":1,"a":2}"#);
        assert_eq!(value.get("a").and_then(Value::integer), Some(1));
    }

    #[test]
    fn an_escaped_key_is_the_key_it_spells() {
        let value = Value::new(br#"{ "t\u0079pe" : "x" }"#);
        assert_eq!(value.get("type").map(Value::raw), Some(br#""x""#.as_slice()));
    }

    #[test]
    fn elements_of_every_kind_are_found() {
        let value = Value::new(br#"[ 1 , "a,]" , [2,[3]] , {"b":[4]} , null ]"#);
        let raw: Vec<_> = value.elements().map(Value::raw).collect();
        assert_eq!(raw, [&b"1"[..], br#""a,]""#, b"[2,[3]]", br#"{"b":[4]}"#, b"null"]);
        assert_eq!(Value::new(b"7").elements().count(), 0);
    }

    #[test]
    fn numbers_are_read_as_a_javascript_writer_means_them() {
        for (raw, expected) in [("12", Some(12)), ("2.9", Some(2)), ("1e3", Some(1000)), ("-1", None), ("\"3\"", None)]
        {
            assert_eq!(Value::new(raw.as_bytes()).integer(), expected, "{raw}");
        }
    }

    #[test]
    fn syntax_at_the_level_that_is_read_is_checked() {
        for broken in
            [r#"{"a" 1}"#, r#"{"a":1 "b":2}"#, r#"{,"a":1}"#, r#"{"a":1,}"#, "{a:1}", r#"{"a":}"#, r#"{"a":1"#]
        {
            let mut members = Members::open(broken.as_bytes(), 0).expect("an object");
            let result = loop {
                match members.key() {
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                    Ok(Some(_)) => {
                        if let Err(error) = members.value() {
                            break Err(error);
                        }
                    }
                }
            };
            assert!(result.is_err(), "{broken}");
        }
    }
}
