"""What made-up sessions consist of: seeded chance, a vocabulary, and tapes of text to cut from.

Any change here changes the bytes of every generated session, and makes former benchmarks incomparable.
"""

from __future__ import annotations

import json
import random
import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


class Dice:
    """Seeded chance from `random.Random.random` alone, the one method whose sequence Python promises to keep.

    Only `+ - * /` are used on the floats: they round alike on every platform, the functions of `math` do not.
    """

    _BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed).random

    def below(self, limit: int) -> int:
        """From 0 to below `limit`."""
        return int(self._random() * limit)

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + int(self._random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True that often, of 1."""
        return self._random() < probability

    def spread(self, typical: float) -> int:
        """A size whose mean is `typical`: mostly half of it, now and then three times as much."""
        draw = self._random()
        return int(typical * (0.4 + 2.4 * draw * draw * draw))

    def pick(self, options: Sequence[str]) -> str:
        """One of the options."""
        return options[int(self._random() * len(options))]

    def hexadecimal(self, digits: int) -> str:
        """Up to 13 digits."""
        return f"{int(self._random() * 2**53) >> (53 - 4 * digits):0{digits}x}"

    def uuid(self) -> str:
        """A version 4 UUID."""
        first, last = self.hexadecimal(12), self.hexadecimal(12)
        middle = self.hexadecimal(7)
        return f"{first[:8]}-{first[8:]}-4{middle[:3]}-{'89ab'[int(middle[3], 16) & 3]}{middle[4:]}-{last}"

    def letters(self, count: int) -> str:
        """Base 62, as in message and tool ids."""
        alphabet, result = self._BASE62, ""
        while len(result) < count:
            number = int(self._random() * 2**53)
            for _ in range(8):
                number, digit = divmod(number, 62)
                result += alphabet[digit]
        return result[:count]


# The vocabulary is a made-up harbour office. In the templates <n> is a noun, <v> a verb, <T> a type name,
# <#> a number, <p> a path, ¶ a line end, ␛ the escape character.
_WORDS = """
tide lantern ledger buoy anchor harbour beacon kettle rudder parcel meadow pebble quay mooring gull compass
signal berth cargo ferry pilot chart current depth fathom gauge hull jetty keel lock marker net oar pier rope
sail tug vessel wharf yard almanac breeze crate drift ember fog galley horizon inlet knot
"""
_ACTIONS = """
measure carry fold count weigh light steer gather settle moor chart borrow mend paint lift lower sort trim
post release announce delay collect compare draw watch
"""
NOUNS, VERBS = _WORDS.split(), _ACTIONS.split()
_FOLDERS = ("src/office", "src/harbour", "tests/harbour", "web/pages", "web/parts", "tools", "docs/notes")
_ENDINGS = ("py", "ts", "rs", "md", "toml", "tsx", "css", "sql")

CODE = r'''
def <v>_<n>(<n>: <T>, *, <n>_limit: int = <#>) -> <T>:
    """Give the <n> of every <n> that a <n> may <v>."""
    if <n>.<n>_<n> is None or len(<n>) > <#>:
        raise <T>Error(f"<n> {<n>!r} has no <n>")
    <n>s = [<n> for <n> in <n>.<n>s if <n>.<v>() != "<n>-<#>"]
    pattern = re.compile(r"^<n>-(\d+)\.(?:<n>|<n>)\s*$")
    logger.info("<v> %s of %d\n", <n>, <#>)
    return <T>(<n>=<n>, <n>=self._<v>(<n>), note="")

class <T>(<T>Base):
    <n>: dict[str, <T>] = field(default_factory=dict)  # <n> → <n>
	const <n> = await <v><T>(<n>Id, { <n>: "<n>", limit: <#> });
	return <n>.map((<n>) => `${<n>.<n>}/<#>`).join("\n");
    let <n> = <n>.iter().filter(|<n>| <n>.<v>() > <#>).count();
    assert_eq!(<v>(&<n>), Some("<n>"), "the <n> must not <v> twice");
        self.<n>_<n>[<n>] = {"<n>": <#>, "<n>": "<p>", "type": "<n>"}

    # The <n> comes before the <n>: a <n> that <v>s late would lose its <n>.
    with open("<p>", encoding="utf-8") as <n>:
        for <n>, <n>_<n> in enumerate(<n>.<v>()):
            yield <n>, <n>_<n>
    }
    else:
        break
import <n>_<n>
from <n>.<n> import <T>, <v>_<n>
    <n> = <n>.<v>(<n>, <n>=<#>)
    for <n> in <n>.<n>s:
        <n>s.append(<n>.<v>(<n>) + <#>)
        if <n>_<n> < <#> and not <n>.<n>:
            continue
    <n>.<v>(<n>)
    return <n>, <n>_<n>

- The <n> of a <n> is <v>ed by the <n>, never by the <n> itself.
                <n>: <n>.<n>.<v>(),
export type <T> = { <n>: string; <n>?: number; <n>: <T>[] };
SELECT <n>, count(*) AS <n>_count FROM <n>s WHERE <n> LIKE '%<n>%' GROUP BY <n>;
    expect(<v><T>("<n>")).toEqual({ <n>: <#>, "<n>-<n>": null });
'''
SHELL = r"""
<p>:<#>: warning: unused <n> `<n>` in <v>_<n>
   Compiling <n>-<n> v0.<#>.1 (/home/robin/projects/lanternfish/crates/<n>)
tests/harbour/test_<n>.py::test_<v>_<n> PASSED                           [ <#>%]
  ✓ <p> > the <n> may <v> (<#> ms)
␛[31mFAILED␛[0m <p>::test_<n>_<v> - AssertionError: assert "<n>" == "<n>"
└─ <p>:<#>: <T>.<v>/2
{"type":"<n>","<n>":{"<n>":<#>,"path":"C:\\<n>\\<n>"}}
INFO  <n>.<n>  <v> of <n> done in <#> ms (<#> <n>s, <#> <n>s)
diff --git a/<p> b/<p>
@@ -<#>,7 +<#>,9 @@ def <v>_<n>(<n>: <T>) -> None:

-rw-r--r--  1 robin robin  <#> Feb 10 09:14 <n>_<n>.log
[<#>/980] Building <T>.<T>.<n>_<n>
make[1]: Entering directory '/home/robin/projects/lanternfish/<n>/<n>'
ok  	lanternfish/<n>/<n>	0.<#>s
  <n>_<n> ......................................... <#>
Compiling <#> files (.<n>) for the <n> of the <n>
   <#>:	    <n> = <n>.<v>(<n>)
tests/harbour/test_<n>.py::test_<n>_of_<n> PASSED                        [ <#>%]
tests/harbour/test_<n>.py::test_<n>_without_<n> PASSED                   [ <#>%]
2026-02-10 09:14:<#> <n> <v>s <n> <#> at <n> <#>
<p>:<#>:<#>: note: the <n> of this <n> stands here
  <#> | 	<n> := <v>(<n>, "<n>\n")
      |      ^^^^^^^^ the <n> is <v>ed here
"""
PROSE = r"""
The <n> is <v>ed before the <n>, so `<v>_<n>` sees an empty <n> — that is why the <n> goes missing.
I'll <v> the <n> in `<p>` first and then look at how the <n> and the <n> share one <n>.
Done. The <n> now <v>s each <n> once, and its tests pass:¶¶- `<p>`: keeps its <n>¶- `<p>`: new test
There are two ways:¶¶1. **Keep the <n>** and <v> it late¶2. **Drop the <n>** and ask the <n> each time
Let me <v> the <n> and the <n> next to it, since the "<n>" in the error message names neither of them.
The failing test wants a <n> of <#>, but the <n> gives <#>; the café <n> ("naïve <n>") is not to blame…
Hmm, the <n> holds a <n> for every <n>. If two <n>s <v> at once, the later <n> wins. Is that what was meant?
```python¶<n> = <v>_<n>("<n>", limit=<#>)¶assert <n> != "\n"¶```
All <#> tests pass ✅ and the <n> takes <#> ms where it took <#> ms before.
"""
REQUESTS = r"""
Please <v> the <n> before the <n> opens, the <n> complains about its "<n>".
Why does the <n> <v> the <n> twice?
The <n> page shows <#> where I expected <#>, can you have a look at <p>?
Looks good, now do the same for the <n>.
And don't touch the <n>, the other <n> still needs it.
When I <v> a <n> I get:¶    <T>Error: <n> has no <n>¶It worked yesterday — maybe the <n>?
Let's keep the <n> simple: one <n>, one <n>.
"""


def _escaped(text: str) -> str:
    """The inside of a JSON string as `JSON.stringify` writes it: non-ASCII characters stay as they are."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def filled(dice: Dice, templates: str, count: int) -> list[str]:
    """`count` pieces of text, each from a template (one a line) drawn by chance."""
    drawn = templates.strip("\n").replace("␛", "\x1b").split("\n")
    words: Mapping[str, Callable[[], str]] = {
        "n": lambda: dice.pick(NOUNS),
        "v": lambda: dice.pick(VERBS),
        "T": lambda: dice.pick(NOUNS).title(),
        "#": lambda: str(dice.between(2, 980)),
        "p": lambda: path_in_project(dice),
    }
    return [
        re.sub("<([nvT#p])>", lambda blank: words[blank[1]](), dice.pick(drawn)).replace("¶", "\n")
        for _ in range(count)
    ]


def path_in_project(dice: Dice) -> str:
    """A made-up path of a source file."""
    return f"{dice.pick(_FOLDERS)}/{dice.pick(NOUNS)}_{dice.pick(NOUNS)}.{dice.pick(_ENDINGS)}"


class Tape:
    """Made-up lines, escaped for JSON once, from which stretches of any size are cut without further work."""

    def __init__(self, lines: Sequence[str], glue: str = "\n") -> None:
        self.lines = [_escaped(line) for line in lines]
        self.glue = _escaped(glue)
        self._text = self.glue.join(self.lines)
        self._starts: list[int] = []
        self._plain_starts: list[int] = []
        start = plain = 0
        for escaped, line in zip(self.lines, lines, strict=True):
            self._starts.append(start)
            self._plain_starts.append(plain)
            start += len(escaped) + len(self.glue)
            plain += len(line.encode()) + len(glue)
        self._starts.append(start)
        self._plain_starts.append(plain)
        self._glue_length = len(glue)

    def span(self, dice: Dice, size: int) -> tuple[int, int]:
        """First and past-the-last line of a stretch of about `size` escaped characters, one line at least."""
        limit = len(self._text)
        first = bisect_right(self._starts, dice.below(max(1, limit - size))) - 1
        last = bisect_left(self._starts, min(self._starts[first] + max(size, 1), limit))
        return first, max(last, first + 1)

    def text(self, span: tuple[int, int]) -> str:
        """The escaped text of a stretch."""
        return self._text[self._starts[span[0]] : self._starts[span[1]] - len(self.glue)]

    def plain_bytes(self, span: tuple[int, int]) -> int:
        """UTF-8 bytes of the stretch once its escapes are decoded."""
        return self._plain_starts[span[1]] - self._plain_starts[span[0]] - self._glue_length

    def cut(self, dice: Dice, size: int) -> str:
        """A stretch of about that many characters, as text."""
        return self.text(self.span(dice, size))
