//! Finds what looks like a secret in the words that are kept. Flagged, never changed, never shown.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

/// A secret that was found, with nothing of it but its public beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule found it.
    pub rule: &'static str,
    /// The public beginning and the length, such as `ghp_… (40 characters)`.
    pub preview: String,
}

/// The shape of one kind of secret.
struct Shape {
    rule: &'static str,
    /// A part of it that is searched for first, exactly as it stands here: this is done with vectors; ignoring case
    /// would mean looking at every byte.
    literal: &'static str,
    /// What stands before that part, in any letter case. Then the part itself is searched for in every letter case
    /// as well, one spelling each.
    before: Option<&'static str>,
    /// Matched where the shape begins. Group 1 (or 2, or 3) is what has to stay secret.
    pattern: &'static str,
    /// What a preview shows.
    shown: &'static str,
}

const fn shape(rule: &'static str, literal: &'static str, pattern: &'static str) -> Shape {
    Shape { rule, literal, before: None, pattern, shown: literal }
}

const fn word(
    rule: &'static str,
    (before, literal): (&'static str, &'static str),
    pattern: &'static str,
    shown: &'static str,
) -> Shape {
    Shape { rule, literal, before: Some(before), pattern, shown }
}

const PASSWORD: &str = "password";

/// The shapes, longer beginnings before the shorter ones that they contain. From the providers' public
/// documentation of their formats. A value between quotes may hold quotes behind a backslash, and where the quotes
/// themselves stand behind backslashes (JSON in JSON) it ends at the next such quote.
const SHAPES: [Shape; 14] = [
    shape("anthropic-key", "sk-ant-", r"^(sk-ant-[a-z]+[0-9]+-[A-Za-z0-9_-]{16,})"),
    shape("openai-project-key", "sk-proj-", r"^(sk-proj-[A-Za-z0-9_-]{16,})"),
    shape("openai-service-key", "sk-svcacct-", r"^(sk-svcacct-[A-Za-z0-9_-]{16,})"),
    shape("secret-key", "sk-", r"^(sk-[A-Za-z0-9][A-Za-z0-9_-]{15,})"),
    shape("github-fine-grained-token", "github_pat_", r"^(github_pat_[A-Za-z0-9_]{22,})"),
    shape("github-token", "ghp_", r"^(ghp_[A-Za-z0-9]{20,})"),
    shape("github-oauth-token", "gho_", r"^(gho_[A-Za-z0-9]{20,})"),
    shape("github-user-token", "ghu_", r"^(ghu_[A-Za-z0-9]{20,})"),
    shape("github-server-token", "ghs_", r"^(ghs_[A-Za-z0-9]{20,})"),
    shape("github-refresh-token", "ghr_", r"^(ghr_[A-Za-z0-9]{20,})"),
    shape("aws-access-key", "AKIA", r"^(AKIA[A-Z2-7]{16})"),
    shape("aws-session-key", "ASIA", r"^(ASIA[A-Z2-7]{16})"),
    word("bearer-token", ("b", "earer"), r"^(?i:bearer)(?:[ \t]|\\t)+([A-Za-z0-9._~+/-]{16,}=*)", "Bearer "),
    word(
        PASSWORD,
        ("pa", "ssw"),
        r#"(?x)^(?i:passw(?:or)?d) (?:\\*["'])? \s{0,3} (?: := | => | ={1,3} | : ) \s{0,3} (?:
            \\+" ( (?: [^"\\\r\n] | \\+ [^"\\\r\n] ){4,} ) (?: \\+" | " | \z )
            | " ( (?: [^"\\\r\n] | \\ [^\r\n] ){4,} ) (?: " | \z )
            | \\*' ( (?: [^'\\\r\n] | \\ [^\r\n] ){4,} ) (?: ' | \z )
            | ( [^\s"',;)}\]]{4,} ) )"#,
        "password=",
    ),
];

/// As much behind a beginning is looked at, in bytes: a text made of nothing but beginnings must not be read anew
/// for each of them. What is longer is found all the same.
const MOST_LOOKED_AT: usize = 512;

struct Engine {
    literals: AhoCorasick,
    /// The shape that each literal belongs to.
    shape_of: Vec<usize>,
    /// Compiled when their literal is first met, which in most sessions is never.
    patterns: [OnceLock<Option<Regex>>; SHAPES.len()],
}

/// `None` cannot happen: the tests build it.
static ENGINE: LazyLock<Option<Engine>> = LazyLock::new(|| {
    let (mut literals, mut shape_of) = (Vec::new(), Vec::new());
    for (at, shape) in SHAPES.iter().enumerate() {
        let spellings = if shape.before.is_some() { spellings(shape.literal) } else { vec![shape.literal.to_owned()] };
        shape_of.extend(spellings.iter().map(|_| at));
        literals.extend(spellings);
    }
    let literals = AhoCorasick::builder().match_kind(aho_corasick::MatchKind::LeftmostFirst).build(literals).ok()?;
    Some(Engine { literals, shape_of, patterns: [const { OnceLock::new() }; SHAPES.len()] })
});

/// `word` in every letter case.
fn spellings(word: &str) -> Vec<String> {
    word.chars().fold(vec![String::new()], |begun, letter| {
        let cases = [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()];
        begun.iter().flat_map(|begin| cases.map(|letter| format!("{begin}{letter}"))).collect()
    })
}

/// Everything in `text` that looks like a secret, in order.
#[must_use]
pub fn find_secrets(text: &str) -> Vec<Finding> {
    let Some(engine) = ENGINE.as_ref() else { return Vec::new() };
    let mut findings = Vec::new();
    let (mut at, mut told) = (0, 0);
    while let Some(found) = engine.literals.find(&text.as_bytes()[at..]) {
        let of = engine.shape_of[found.pattern().as_usize()];
        let start = beginning(text, at + found.start(), &SHAPES[of]).filter(|&start| start >= told);
        at += found.end();
        let Some(start) = start else { continue };
        let Some(pattern) = engine.patterns[of].get_or_init(|| Regex::new(SHAPES[of].pattern).ok()) else { continue };
        if let Some((end, finding)) = look_at(&text[start..], &SHAPES[of], pattern) {
            // What only stands where a secret would may have one behind it.
            at = at.max(start + end);
            told = at;
            findings.push(finding);
        }
    }
    findings
}

/// Where the shape begins whose literal stands at `literal`.
fn beginning(text: &str, literal: usize, shape: &Shape) -> Option<usize> {
    let before = shape.before.unwrap_or_default();
    let start = literal.checked_sub(before.len())?;
    if !text.get(start..literal)?.eq_ignore_ascii_case(before) {
        return None;
    }
    // A beginning in the middle of a word is no beginning (`task-`, `risk-`), but for `dbpassword`.
    let inside = text[..start].ends_with(|before: char| before.is_ascii_alphanumeric());
    (!inside || shape.rule == PASSWORD).then_some(start)
}

/// The secret at the beginning of `text`, and where it ends.
fn look_at(text: &str, shape: &Shape, pattern: &Regex) -> Option<(usize, Finding)> {
    let near = &text[..char_boundary(text, MOST_LOOKED_AT)];
    let mut secret = secret_in(near, pattern)?;
    if is_placeholder(secret.as_str()) {
        return None;
    }
    if secret.end() == near.len() && shape.rule != PASSWORD {
        secret = secret_in(text, pattern)?;
    }
    let length = secret.as_str().chars().count();
    let finding = Finding { rule: shape.rule, preview: format!("{}… ({length} characters)", shape.shown) };
    Some((secret.end(), finding))
}

/// The last place up to `at` where `text` can be cut.
fn char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}

fn secret_in<'t>(text: &'t str, pattern: &Regex) -> Option<regex::Match<'t>> {
    pattern.captures(text)?.iter().skip(1).flatten().next()
}

/// What stands where a secret would: examples, variables, masks.
fn is_placeholder(secret: &str) -> bool {
    let lower = secret.to_lowercase();
    let mut letters: Vec<char> = lower.chars().filter(|letter| letter.is_alphanumeric()).collect();
    letters.sort_unstable();
    letters.dedup();
    letters.len() <= 3
        || secret.starts_with(['$', '<', '{', '%'])
        || ["example", "xxxx", "your_", "your-", "placeholder", "redacted", "****", "..."]
            .iter()
            .any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made at run time, so that no scanner takes this file for a leak.
    fn random(length: usize) -> String {
        let letters = b"Zq3vLp8RtW2yXk5NbJ7cMd4GfHs9TaVu";
        (0..length).map(|at| char::from(letters[(at * 7 + at / 5) % letters.len()])).collect()
    }

    fn rules(text: &str) -> Vec<&'static str> {
        find_secrets(text).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn every_shape_is_found_and_never_shown() {
        let capitals = random(60).to_uppercase().replace(['8', '9'], "7").replace('1', "2");
        let cases = [
            ("anthropic-key", format!("sk-ant-api03-{}", random(95))),
            ("openai-project-key", format!("sk-proj-{}", random(48))),
            ("openai-service-key", format!("sk-svcacct-{}", random(48))),
            ("secret-key", format!("sk-{}", random(48))),
            ("github-fine-grained-token", format!("github_pat_{}", random(82))),
            ("github-token", format!("ghp_{}", random(36))),
            ("github-oauth-token", format!("gho_{}", random(36))),
            ("github-user-token", format!("ghu_{}", random(36))),
            ("github-server-token", format!("ghs_{}", random(36))),
            ("github-refresh-token", format!("ghr_{}", random(36))),
            ("aws-access-key", format!("AKIA{}", &capitals[..16])),
            ("aws-session-key", format!("ASIA{}", &capitals[..16])),
            ("bearer-token", format!("Bearer {}", random(30))),
            ("password", format!("password={}", random(12))),
            ("password", format!("PASSWORD: \"{}\"", random(12))),
            ("password", format!("db_password = '{}'", random(12))),
            ("password", format!(r#"\"password\": \"{}\""#, random(12))),
            ("password", format!(r#"\\\"password\\\": \\\"{}\\\""#, random(12))),
            ("password", format!("PassWord={}", random(12))),
            ("password", format!("pASSwORD={}", random(12))),
            ("password", format!("password := \"{}\"", random(12))),
            ("password", format!("'password' => '{}'", random(12))),
            ("password", format!("passwd={}", random(12))),
            ("password", format!("PASSWD: {}", random(12))),
            ("password", format!("password: \"{}\"", random(300))),
            ("password", format!("password: \"{}\"", random(3000))),
            ("password", format!(r#"password = "\"{}""#, random(12))),
            ("password", "password=パスワード秘密".to_owned()),
            ("bearer-token", format!("BeaReR {}", random(30))),
            ("bearer-token", format!("Bearer\t{}", random(30))),
        ];
        for (rule, secret) in cases {
            for text in [secret.clone(), format!("use {secret}\nplease"), format!("({secret})")] {
                let findings = find_secrets(&text);
                assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), [rule], "{rule}");
                let tail = secret.trim_end_matches(['"', '\'', '\\']);
                assert!(!findings[0].preview.contains(&tail[char_boundary(tail, tail.len() - 6)..]), "{rule}");
            }
        }
        assert_eq!(find_secrets(&format!("ghp_{}", random(36)))[0].preview, "ghp_… (40 characters)");
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        for text in [
            "sk-…",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
            "a task-force-of-people-who-meet",
            "risk-assessment-and-more-words",
            "password: <your-password>",
            "password=${DB_PASSWORD}",
            "password is wrong",
            "the bearer of this letter",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_short",
            "",
            "passwordpassword",
        ] {
            assert_eq!(rules(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn several_are_found_in_order() {
        let text = format!("ghp_{} and Bearer {} and password={}", random(36), random(30), random(8));
        assert_eq!(rules(&text), ["github-token", "bearer-token", "password"]);
    }

    #[test]
    fn a_placeholder_hides_nothing_behind_it() {
        let key = format!("ghp_{}", random(36));
        for text in [
            format!("password=<your>{key}"),
            format!("password=\"${{X:-{key}}}\""),
            format!("password: \"...\" and '{key}'"),
            format!("Authorization: Bearer xxxxxxxxxxxxxxxxxxxx/{key}"),
        ] {
            assert_eq!(rules(&text), ["github-token"], "{text}");
        }
    }

    #[test]
    fn the_length_is_that_of_the_whole_token() {
        let findings = find_secrets(&format!("Bearer {} and more", random(2000)));
        assert_eq!(findings[0].preview, "Bearer … (2000 characters)");
    }

    #[test]
    fn a_text_of_nothing_but_beginnings_is_read_once() {
        assert_eq!(rules(&"sk-xxxx-".repeat(100_000)), Vec::<&str>::new());
        assert_eq!(rules(&"password=<xxxx".repeat(50_000)), Vec::<&str>::new());
    }
}
