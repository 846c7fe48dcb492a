"""What a client wraps around words in Codex rollouts: headers of an editor, answers to questions, plans."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.twin.lines import Json, clean, decode_value, mapping, string_of, trim
from tests.twin.words import content_blocks


def lines_of(texts: list[str]) -> str:
    """The texts that are not blank, stripped, one to a line."""
    return "\n".join(trim(text) for text in texts if trim(text))


def texts_of(content: object) -> list[str]:
    """The texts of the parts of a content; a bare string is a part of text."""
    texts = (part if isinstance(part, str) else mapping(part).get("text") for part in content_blocks(content))
    return [clean(text) for text in texts if isinstance(text, str)]


# ---------------------------------------------------------------- headers of an editor

BROWSER_CONTEXT = re.compile("<in-app-browser-context[^<>]*>.*?</in-app-browser-context>", re.DOTALL)
REQUEST = re.compile("^## My request(?: for Codex)?:", re.MULTILINE)
COMMENTED = ("# Diff comments:", "# Browser comments:")
HEADINGS = (
    *COMMENTED,
    "# Context from my IDE setup:", "# Files mentioned by the user:", "# Files pasted by the user:",
    "# Review findings:", "# Failing PR checks:", "# Selected text:", "# Response annotations:",
    "# In app browser", "## Prior conversation with Codex:", "## Code review guidelines:",
    "## Pull request fix:", "## Auto resolve merge:",
)  # fmt: skip
COMMENT = re.compile("## (?:User )?Comment [0-9]")


def request_of(text: str) -> str:
    """What the human asked for, without what an editor wrapped around it; a request they typed stays."""
    text, contexts = BROWSER_CONTEXT.subn("", text)
    text = trim(text)
    is_headed = text.startswith(HEADINGS) or (contexts > 0 and REQUEST.match(text) is not None)
    found = REQUEST.search(text) if is_headed else None
    if found is None:
        return text
    return lines_of([*comments_of(text[: found.start()]), text[found.end() :]])


def comments_of(header: str) -> list[str]:
    """What the human wrote beside the lines of a diff or on a page."""
    comments: list[list[str]] = []
    is_commented, waits, is_open = False, False, False
    for line in header.split("\n"):
        if line.startswith(HEADINGS):
            is_commented, waits, is_open = line.startswith(COMMENTED), False, False
        elif is_commented and COMMENT.match(line):
            waits, is_open = True, False
        elif is_open:
            comments[-1].append(line)
        elif waits and line.startswith("Comment:"):
            comments.append([line.removeprefix("Comment:")])
            is_open = True
    return ["\n".join(comment) for comment in comments]


# ---------------------------------------------------------------- answers to questions

REPLY, REPLY_END = "<send_user_message_question_reply>", "</send_user_message_question_reply>"
NOTE = "user_note: "


@dataclass
class Answers:
    """What the human answered, and what they had been asked, in the same order."""

    lines: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def add(self, question: str, answers: list[str]) -> None:
        """Adds the answers to a question that are not blank; without one the question is left out as well."""
        lines = [trim(trim(answer).removeprefix(NOTE)) for answer in answers]
        lines = [line for line in lines if line]
        self.lines += lines
        if lines and trim(question):
            self.questions.append(trim(question))


def whole_json(text: str) -> tuple[object, str]:
    """The JSON value that a text begins with, and what stands behind it; `None` when there is none."""
    text = trim(text)
    try:
        value, end = decode_value(text, 0)
    except ValueError:
        return None, ""
    return value, trim(text[end:])


def strings_of(value: object) -> list[str]:
    """A string, or the strings of a list; `answers` may hold them."""
    if isinstance(value, dict):
        value = value.get("answers")
    values = value if isinstance(value, list) else [value]
    return [clean(one) for one in values if isinstance(one, str)]


def reply_of(text: str) -> Answers | None:
    """The answers of a text that is nothing but a reply to questions; its end tag may be missing."""
    if not text.startswith(REPLY):
        return None
    told, rest = whole_json(text.removeprefix(REPLY))
    if not isinstance(told, list) or rest not in ("", REPLY_END):
        return None
    answers = Answers()
    for one in told:
        if not isinstance(one, dict):
            return None
        answers.add(string_of(one, "question"), strings_of(one.get("answer")))
    return answers


def text_of_output(output: object) -> str | None:
    """The text that a tool gave back, when it gave text."""
    if isinstance(output, dict) and "answers" not in output:
        output = output.get("content")
    return "".join(texts_of(output)) if isinstance(output, str | list) else None


def answers_of(output: object, questions: list[Json] | None) -> Answers:
    """The answers in what a tool gave back; `questions` is `None` when nothing tells what was asked.

    Then only what can be nothing else is taken for answers.
    """
    text = text_of_output(output)
    told, rest = (output, "") if text is None else whole_json(text)
    given = mapping(mapping(told).get("answers")) if rest == "" else {}
    answers = Answers()
    if questions is None and not (is_nothing_but(told, "answers") and all(map(is_answer, given.values()))):
        return answers
    asked: dict[str, str] = {}
    for question in questions or []:
        asked.setdefault(string_of(question, "id"), string_of(question, "question"))
    for id_ in [*(id_ for id_ in asked if id_ in given), *(id_ for id_ in given if id_ not in asked)]:
        answers.add(asked.get(id_, ""), strings_of(given[id_]))
    return answers


def is_nothing_but(value: object, key: str) -> bool:
    """Whether the value is an object with this key only."""
    return isinstance(value, dict) and list(value) == [key]


def is_answer(value: object) -> bool:
    """Whether the value can only be the answer to one question."""
    answers = mapping(value).get("answers")
    is_list = isinstance(answers, list) and all(isinstance(answer, str) for answer in answers)
    return is_nothing_but(value, "answers") and is_list


# ---------------------------------------------------------------- what the assistant says

PLAN = re.compile("<proposed_plan>(.*?)</proposed_plan>", re.DOTALL)
OPEN_PLAN = re.compile("^[ \t]*<proposed_plan>(.*)", re.DOTALL | re.MULTILINE)
PLAN_TAG = re.compile("</?proposed_plan>")
CITATION = re.compile("<oai-mem-citation>.*?</oai-mem-citation>", re.DOTALL)
OPEN_CITATION = re.compile("^[ \t]*<oai-mem-citation>.*", re.DOTALL | re.MULTILINE)


def spoken_of(text: str) -> tuple[str, str]:
    """What the assistant says for the human to read, and the plan that stands in it; ends may be missing."""
    text = OPEN_CITATION.sub("", CITATION.sub("", text))
    plans = PLAN.findall(text)
    text = PLAN.sub("", text)
    opened = OPEN_PLAN.search(text)
    if opened:
        plans.append(opened.group(1))
        text = text[: opened.start()]
    return PLAN_TAG.sub("", text), lines_of([PLAN_TAG.sub("", plan) for plan in plans])
