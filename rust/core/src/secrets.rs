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
    /// What it begins with, in every spelling of interest: what is searched for first. Exact spellings, because
    /// these are searched for with vectors; ignoring case would mean looking at every byte.
    literals: &'static [&'static str],
    /// Matched where the literal was found. Group 1 is what has to stay secret.
    pattern: &'static str,
    /// What a preview shows.
    shown: &'static str,
}

const fn shape(
    rule: &'static str,
    literals: &'static [&'static str],
    pattern: &'static str,
    shown: &'static str,
) -> Shape {
    Shape { rule, literals, pattern, shown }
}

/// The shapes, longer beginnings before the shorter ones that they contain. From the providers' public
/// documentation of their formats.
const SHAPES: [Shape; 14] = [
    shape("anthropic-key", &["sk-ant-"], r"^(sk-ant-[a-z]+[0-9]+-[A-Za-z0-9_-]{16,})", "sk-ant-"),
    shape("openai-project-key", &["sk-proj-"], r"^(sk-proj-[A-Za-z0-9_-]{16,})", "sk-proj-"),
    shape("openai-service-key", &["sk-svcacct-"], r"^(sk-svcacct-[A-Za-z0-9_-]{16,})", "sk-svcacct-"),
    shape("secret-key", &["sk-"], r"^(sk-[A-Za-z0-9][A-Za-z0-9_-]{15,})", "sk-"),
    shape("github-fine-grained-token", &["github_pat_"], r"^(github_pat_[A-Za-z0-9_]{22,})", "github_pat_"),
    shape("github-token", &["ghp_"], r"^(ghp_[A-Za-z0-9]{20,})", "ghp_"),
    shape("github-oauth-token", &["gho_"], r"^(gho_[A-Za-z0-9]{20,})", "gho_"),
    shape("github-user-token", &["ghu_"], r"^(ghu_[A-Za-z0-9]{20,})", "ghu_"),
    shape("github-server-token", &["ghs_"], r"^(ghs_[A-Za-z0-9]{20,})", "ghs_"),
    shape("github-refresh-token", &["ghr_"], r"^(ghr_[A-Za-z0-9]{20,})", "ghr_"),
    shape("aws-access-key", &["AKIA"], r"^(AKIA[A-Z2-7]{16})", "AKIA"),
    shape("aws-session-key", &["ASIA"], r"^(ASIA[A-Z2-7]{16})", "ASIA"),
    shape("bearer-token", &["Bearer ", "bearer ", "BEARER "], r"^(?i:bearer) +([A-Za-z0-9._~+/-]{16,}=*)", "Bearer "),
    shape(
        "password",
        &["password", "Password", "PASSWORD"],
        r#"^(?i:password)["']?\s{0,3}[=:]\s{0,3}(?:"([^"\r\n]{4,200})"|'([^'\r\n]{4,200})'|([^\s"',;)}\]]{4,200}))"#,
        "password=",
    ),
];

struct Engine {
    literals: AhoCorasick,
    /// The shape that each literal belongs to.
    shape_of: Vec<usize>,
    /// Compiled when their literal is first met, which in most sessions is never.
    patterns: [OnceLock<Option<Regex>>; SHAPES.len()],
}

/// `None` cannot happen: the tests build it.
static ENGINE: LazyLock<Option<Engine>> = LazyLock::new(|| {
    let spellings = SHAPES.iter().flat_map(|shape| shape.literals);
    let shape_of = SHAPES.iter().enumerate().flat_map(|(at, shape)| shape.literals.iter().map(move |_| at)).collect();
    let literals = AhoCorasick::builder().match_kind(aho_corasick::MatchKind::LeftmostFirst).build(spellings).ok()?;
    Some(Engine { literals, shape_of, patterns: [const { OnceLock::new() }; SHAPES.len()] })
});

/// Everything in `text` that looks like a secret, in order.
#[must_use]
pub fn find_secrets(text: &str) -> Vec<Finding> {
    let Some(engine) = ENGINE.as_ref() else { return Vec::new() };
    let mut findings = Vec::new();
    let mut at = 0;
    while let Some(found) = engine.literals.find(&text.as_bytes()[at..]) {
        let start = at + found.start();
        let of = engine.shape_of[found.pattern().as_usize()];
        let shape = &SHAPES[of];
        at += found.end();
        // A beginning in the middle of a word is no beginning (`task-`, `risk-`).
        if text[..start].ends_with(|before: char| before.is_ascii_alphanumeric()) && shape.rule != "password" {
            continue;
        }
        let pattern = engine.patterns[of].get_or_init(|| Regex::new(shape.pattern).ok());
        let Some(captures) = pattern.as_ref().and_then(|pattern| pattern.captures(&text[start..])) else { continue };
        let Some(secret) = captures.iter().skip(1).flatten().next() else { continue };
        at = at.max(start + secret.end());
        if !is_placeholder(secret.as_str()) {
            let length = secret.as_str().chars().count();
            findings.push(Finding { rule: shape.rule, preview: format!("{}… ({length} characters)", shape.shown) });
        }
    }
    findings
}

/// What stands where a secret would: examples, variables, masks.
fn is_placeholder(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    let mut letters: Vec<char> = lower.chars().filter(char::is_ascii_alphanumeric).collect();
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
        ];
        for (rule, secret) in cases {
            for text in [secret.clone(), format!("use {secret}\nplease"), format!("({secret})")] {
                let findings = find_secrets(&text);
                assert_eq!(findings.iter().map(|finding| finding.rule).collect::<Vec<_>>(), [rule], "{rule}");
                let tail = secret.trim_end_matches(['"', '\'']);
                assert!(!findings[0].preview.contains(&tail[tail.len() - 6..]), "{rule}");
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
}
