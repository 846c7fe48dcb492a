"""What stands in tool results beside output: answers and rejections, plans, and what agents used."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tests.twin.lines import Json, clean, decode_or_none, mapping, publish, string_of, trim

# ---------------------------------------------------------------- answers to questions

ANSWERED = (
    "User has answered your questions:",
    "Your questions have been answered:",
    "The user answered:",
)
RESPONDED = "The user responded:"
TRAILERS = (". You can now continue with", ". Read the answers carefully")
PREVIEW, NO_OPTION = '" selected preview:', "(no option selected)"
# What the client writes for an answer that only notes were typed for.
NOT_AN_ANSWER = {"(notes only)", NO_OPTION}


@dataclass
class Answers:
    """The answers that say something, and the questions that they answer, in one order."""

    says: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)

    def add(self, question: str | None, answer: str, notes: str) -> None:
        """Adds an answer with the notes beside it, unless neither says anything."""
        answer, notes = trim(answer), trim(notes)
        answer = "" if answer in NOT_AN_ANSWER else answer
        line = f"{answer} ({notes})" if answer and notes else answer or notes
        if line:
            self.says.append(line)
            self.questions += [] if question is None else [question]


def given_back(entry: Json) -> Json:
    """What a tool gave back as data; saved output spells the name otherwise."""
    found = (entry.get(name) for name in ("toolUseResult", "tool_use_result"))
    return next((data for data in found if isinstance(data, dict)), {})


def answers_of(text: str, result: Json) -> Answers:
    """What the human answered: as the client keeps it, or as it tells the model."""
    if isinstance(result.get("answers"), dict):
        return kept_answers(result, result["answers"], mapping(result.get("annotations")))
    return told_answers(text)


def kept_answers(result: Json, answers: Json, annotations: Json) -> Answers:
    """Answers by question, each a string or, where several may be chosen, a list of them; or words to all."""
    found = Answers()
    for question, answer in [*answers.items(), *((one, "") for one in annotations if one not in answers)]:
        chosen = answer if isinstance(answer, list) else [answer]
        said = [trim(clean(one)) for one in chosen if isinstance(one, str)]
        notes = string_of(mapping(annotations.get(question)), "notes")
        found.add(question, ", ".join(one for one in said if one), notes)
    if not found.says and trim(string_of(result, "response")):
        found.add(None, string_of(result, "response"), "")
        asked = result.get("questions")
        asked = [mapping(one).get("question") for one in asked] if isinstance(asked, list) else []
        found.questions = [clean(one) for one in asked if isinstance(one, str)]
    return found


def told_answers(text: str) -> Answers:
    """Answers as the model reads them: `"question"="answer"`, with commas between."""
    found = Answers()
    if text.startswith(RESPONDED):
        found.add(None, text.removeprefix(RESPONDED), "")
    for start in ANSWERED:
        if text.startswith(start):
            body = text.removeprefix(start)
            cut = max(map(body.rfind, TRAILERS))
            body = trim(body if cut < 0 else body[:cut])
            first, *others = re.split(r'"=(?="|\(no option selected\))', body)
            if not others:
                found.add(None, body, "")
            question, said = first.lstrip('"'), ""
            for part in others:
                before, comma, next_question = part.rpartition(', "')
                if part is not others[-1] and comma:
                    found.add(question, *answer_and_notes(said + before))
                    question, said = next_question, ""
                elif part is not others[-1]:
                    said += f'{part}"='
                else:
                    found.add(question, *answer_and_notes(said + part))
    return found


def answer_and_notes(said: str) -> tuple[str, str]:
    """An answer without its quotes and the preview of it, and the notes behind it."""
    if not said.startswith('"'):
        return "", said.partition("notes: ")[2]
    said = said[1:]
    if PREVIEW in said:
        answer, _, preview = said.partition(PREVIEW)
        return answer, preview.rpartition(" notes: ")[2] if " notes: " in preview else ""
    for mark in ('" user notes: ', '" notes: '):
        if mark in said:
            answer, _, notes = said.partition(mark)
            return answer, notes
    return said.rpartition('"')[0] if '"' in said else said, ""


# ---------------------------------------------------------------- rejections

REJECTED = (
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission for this tool use was denied. The tool use was rejected",
)
REJECTED_PLAN = "The agent proposed a plan that was rejected by the user"
SAID = re.compile("[Tt]he user said:")
NOTE = "\n\nNote: The user's next message may contain"
# The client says this in the human's name, and quotes what they answered until then.
CLARIFIES = (
    "The user wants to clarify these questions.",
    "The user has indicated they have provided enough answers",
)


def rejection_of(text: str, block: Json) -> str | None:
    """The words of a rejection, "" for one without words, `None` for any other result."""
    if block.get("is_error") is False:
        return None
    if text.startswith(REJECTED_PLAN):
        return ""
    if not text.startswith(REJECTED):
        return None
    words = "".join(SAID.split(text, maxsplit=1)[1:])
    return trim(words[: words.rindex(NOTE)] if NOTE in words else words)


def clarified(words: str) -> Answers | None:
    """What was answered when the human wanted to talk about the questions instead."""
    if not words.startswith(CLARIFIES):
        return None
    found = Answers()
    for part in words.split('\n- "')[1:]:
        question, _, rest = part.partition('"\n')
        answer, _, notes = f"\n{rest}".partition("\n  User notes: ")
        found.add(question, trim(answer).removeprefix("Answer: ") if "Answer: " in answer else "", notes)
    return found


# ---------------------------------------------------------------- plans


def plan_asked(arguments: object) -> str:
    """The plan that a call of `ExitPlanMode` shows."""
    if isinstance(arguments, str):
        arguments = decode_or_none(trim(clean(arguments)), 0)
    return trim(string_of(mapping(arguments), "plan"))


def plan_answered(result: Json, entry: Json) -> str:
    """The plan that stands beside the result of such a call."""
    places = ((result, "planContent"), (result, "plan"), (entry, "planContent"))
    return next((plan for holder, key in places if (plan := trim(string_of(holder, key)))), "")


# ---------------------------------------------------------------- what agents in the background used

FIGURES = {
    "total_tokens": ("subagent_tokens", "total_tokens"),
    "tool_uses": ("tool_uses",),
    "duration_ms": ("duration_ms",),
}
NOTIFICATION = "<task-notification>"


def usage_note(text: str) -> tuple[str, dict[str, int]] | None:
    """The call that a notification of a task is about, and what its agent used."""
    opened = text.find(NOTIFICATION)
    if opened < 0:
        return None
    text = text[opened:]
    if "<result>" in text and text.rfind("</result>") > text.find("<result>"):
        text = text.partition("<result>")[0] + text.rpartition("</result>")[2]
    called = re.search(r"<tool-use-id>(.*?)</tool-use-id>", text, re.DOTALL)
    used = re.findall(r"<usage>(.*?)</usage>", text, re.DOTALL)
    if not called or not used:
        return None
    figures = {}
    for name, spellings in FIGURES.items():
        for spelling in spellings:
            found = re.search(rf"<{spelling}>\s*([0-9]+)|\b{spelling}:\s*([0-9]+)", used[-1])
            if found and name not in figures:
                figures[name] = int(found[1] or found[2])
    return trim(called[1]), figures


# ---------------------------------------------------------------- agents that a result names otherwise


def workflow_folder(result: Json, text: str) -> str:
    """The folder in which the files of a workflow's agents lie."""
    told = re.search(r"^Transcript dir:[ \t]*(.+)$", text, re.MULTILINE)
    path = string_of(result, "transcriptDir") or (told[1] if told else "")
    return publish(string_of(result, "runId") or re.split(r"[/\\]", trim(path).rstrip("/\\"))[-1])


def teammate(result: Json) -> tuple[str, str] | None:
    """The id and the name of an agent that joined a team."""
    if string_of(result, "status") != "teammate_spawned":
        return None
    return string_of(result, "agent_id"), string_of(result, "name")
