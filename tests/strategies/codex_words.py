"""Hypothesis strategies for words in Codex rollouts, recorded in every way; all words are made up."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

from hypothesis import strategies as st
from tests.strategies.claude_entries import IMAGES, Draw, Json, short_texts, spoken_texts, texts

# ---------------------------------------------------------------- envelopes


def R(type_: str, **body: Any) -> Json:  # noqa: N802
    """An item in an envelope."""
    return {"type": "response_item", "payload": {"type": type_, **body}}


def E(type_: str, **body: Any) -> Json:  # noqa: N802
    """An event."""
    return {"type": "event_msg", "payload": {"type": type_, **body}}


def I(type_: str, **item: Any) -> Json:  # noqa: E743, N802
    """A completed item."""
    return E("item_completed", turn_id="turn-1", item={"type": type_, **item})


def O(type_: str, **body: Any) -> Json:  # noqa: E743, N802
    """An item without an envelope."""
    return {"type": type_, **body}


def rarely(draw: Draw, one_in: int) -> bool:
    """True about once in so many times; shrinks to False."""
    return draw(st.integers(0, one_in)) == one_in


# ---------------------------------------------------------------- images

LARGE = IMAGES[0] + bytes(range(90))  # long enough to be found in text
PICTURES = [base64.b64encode(data).decode() for data in [*IMAGES, LARGE]]
NOT_PICTURES = ["@@@ no base64 @@@", base64.b64encode(b"plain words, no picture").decode(), "", "A" * 200]
bases = st.sampled_from([*PICTURES, *PICTURES, *NOT_PICTURES])
addresses: st.SearchStrategy[Any] = st.one_of(
    bases.map("data:image/png;base64,".__add__),
    bases.map("data:image/png;base64,".__add__),
    bases.map("DATA:image/x-wrong;name=a;base64,".__add__),
    st.sampled_from(["https://reef.example/1.png", "sediment://1", "data:text/plain,kelp", "", None, 7, {}]),
)
image_parts = addresses.map(lambda address: {"type": "input_image", "image_url": address, "detail": "auto"})
bare_images: st.SearchStrategy[Json] = bases.map(
    lambda data: {"type": "image", "data": data, "mimeType": "x"}
)
printed = st.lists(
    st.one_of(bases.map(lambda data: f"<data:image/png;base64,{data}>"), bases, short_texts), max_size=3
).map(" ".join)

# ---------------------------------------------------------------- words

MARKED = [
    "<environment_context>\n  <cwd>/reef/deep</cwd>\n</environment_context>",
    " <ENVIRONMENT_CONTEXT><cwd> /tide </cwd><cwd>/no</cwd>",
    "<user_instructions>knots</user_instructions>", "# AGENTS.md instructions for /reef\nknots",
    "<skill>dive</skill>", "<turn_aborted>\nstopped</turn_aborted>", "<hook_prompt id='1'>x</hook_prompt>",
    "\tYou are `/root`, the primary agent", "Warning: apply_patch was requested via exec",
    "<image name=[Image #1]>", "</image>", " <local_image path='a'> ", "</local_image>",
    "<image>words</image>", "<images", "<image <b>>",
    "<in-app-browser-context>tab</in-app-browser-context>kelp", "a<in-app-browser-context>not closed",
    "<in-app-browser-context>\n1</in-app-browser-context>b<in-app-browser-context></in-app-browser-context>",
    "# Context\n\n## My request for Codex:\nmend it\n## My request: no", "x ## My request: y",
    "## My request:", "## My request for codex: small", "tabs\n## My request: \n  sort \n",
    "<turn_aborted", "words <turn_aborted>",
    "# AGENTS.md instructions\n\n<INSTRUCTIONS>\nknots\n</INSTRUCTIONS>",
    "# agents.md instructions<instructions>",
    "# AGENTS.md instructions", "# AGENTS.md instructions are long", "<user_action>\nreview</user_action>",
    "<codex_internal_context source='goal'>x</codex_internal_context>", "<hook_prompt>x", "<user_action",
    "<in-app-browser-context source='x'>tab</in-app-browser-context>\n## My request:\nmend it",
]  # fmt: skip
marked = st.sampled_from(MARKED)

HEADERS = [
    "# Context from my IDE setup:\n\n## Open tabs:\n- a.py: a.py\n",
    "# Review findings:\n\n## Finding 1\nComment:\nno\n",
    "\n# Files mentioned by the user:\n\n## a.png: /a.png\n",
    "# Diff comments:\n",
    "# Browser comments:\n",
    "\n## Comment 1\nFile: a\nLines: 3\nDiff hunk:\n```diff\n+Comment:\n```\nComment:\n",
    "## User Comment 2\nComment: ",
    "Comment:\n",
    "# In app browser:\n",
    "\n## My request for Codex:\n",
    "\n## My request:\n",
    "## My request: ",
    "Notes:\n",
    "<in-app-browser-context a='b'>\n## My request:\n</in-app-browser-context>\n",
]
in_editor = st.lists(
    st.one_of(st.sampled_from(HEADERS), st.sampled_from(HEADERS), short_texts), max_size=6
).map("".join)
ANSWERS: list[Any] = [
    "red",
    " user_note: two\ncoats ",
    "user_note: ",
    "user_note:none",
    "",
    " ",
    None,
    7,
    ["oak", " user_note: x", 7],
    [],
    {},
]
answers = st.sampled_from(ANSWERS)
reply_objects = st.fixed_dictionaries(
    {"answer": answers},
    optional={"question": st.sampled_from(["Which?", " When? ", "", 7, None]), "id": st.just("q")},
)
reply_lists = st.lists(reply_objects, max_size=3).map(json.dumps)
replies = st.tuples(
    st.sampled_from(["", "", " ", "a", "# Diff comments:\n## My request:\n"]),
    st.sampled_from(["<send_user_message_question_reply>", "<send_user_message_question_reply>\n"]),
    st.one_of(reply_lists, reply_lists, st.sampled_from(["", "[", "{}", "[7]", "7", "[{]"])),
    st.sampled_from(
        ["\n</send_user_message_question_reply>", "", "\n", " more", "</send_user_message_question_reply> x"]
    ),
).map("".join)
# Few enough to be said again before they are answered, and told with other placeholders.
REPEATED = [
    "yes",
    "yes",
    "go on",
    "[Image #1] yes",
    "yes\n\n[Image #1]",
    "[Image #1]",
    "[Image #12]",
    "[Image #x]",
]
BLACKENED = [
    "[REDACTED_TEXT len=4 sha=0a]",
    "[REDACTED_MESSAGE len=4 sha=0a]",
    "[REDACTED_TEXT len=9 sha=1b] [REDACTED]",
]
repeated = st.sampled_from([*REPEATED, *REPEATED, *BLACKENED])
spoken = st.one_of(spoken_texts, spoken_texts, spoken_texts, marked, repeated, in_editor, replies)

PLANS = [
    "1. Pull.",
    "1. Pull.",
    "1. Pull.",
    "\n1. Pull.\n\n",
    "- grease\n- push",
    " ",
    "",
    "1. Pull. <proposed_plan> twice",
]
WOVEN = [
    "<proposed_plan>\n{}\n</proposed_plan>",
    "Look:\n<proposed_plan>{}</proposed_plan>",
    "<proposed_plan>{}",
    "a <proposed_plan> {}",
    "<proposed_plan>{}</proposed_plan>yes<proposed_plan>- more</proposed_plan>",
    "{}</proposed_plan>",
    "b\n \t<proposed_plan>\n{}",
    "yes\n<oai-mem-citation>\n{}\n</oai-mem-citation>",
    "yes\n<oai-mem-citation>{}",
    "a <oai-mem-citation> {}",
]
woven = st.builds(str.format, st.sampled_from(WOVEN), st.sampled_from(PLANS))
told = st.one_of(spoken_texts, spoken_texts, spoken_texts, woven, repeated)
KINDS = [
    "user.text", "user.", "user", "", "unknown", "images.preparation_error", "images.unsupported",
    "audio.unsupported", "agents_md.instructions", "environments.environment_context", None, 7,
]  # fmt: skip


def text_part(text: str, type_: str = "input_text") -> Json:
    """A part of text."""
    return {"type": type_, "text": text}


text_types = st.sampled_from(["input_text", "input_text", "input_text", "text", "output_text"])
parts: st.SearchStrategy[Any] = st.one_of(
    st.builds(text_part, spoken, text_types),
    st.builds(text_part, spoken, text_types),
    image_parts,
    st.sampled_from(["bare", None, 7, {}, {"type": "input_audio", "audio_url": "data:audio/x;base64,AAAA"}]),
)


def ways_of(draw: Draw, recordings: str) -> list[str]:
    """The ways in which something is recorded: each there is once, or any of them."""
    if draw(st.booleans()):
        return draw(st.permutations(recordings))
    return draw(st.lists(st.sampled_from(recordings), min_size=1, max_size=3))


def respaced(draw: Draw, text: str) -> str:
    """The text, perhaps with other white space in it."""
    how = draw(st.integers(0, 9))
    changed = {
        6: f" {text}\n",
        7: text.replace(" ", "\n"),
        8: f"{text} more",
        9: f"\u3000\u00a0{text}\u2028\t",
    }
    return changed.get(how, text)


def in_parts(draw: Draw, text: str) -> list[str]:
    """The text, perhaps cut in parts: they are joined with nothing."""
    if not rarely(draw, 3):
        return [text]
    cut = draw(st.integers(0, len(text)))
    return [text[:cut], *draw(st.sampled_from([[], [], ["\n"], [""]])), text[cut:]]


def recorded(draw: Draw, recording: str, role: str, text: str, images: list[Any]) -> Json:
    """A message, recorded in one of the ways."""
    if recording == "E" and role == "user":
        kind = draw(st.sampled_from([None, None, None, "plain", "", "context", 7]))
        return E("user_message", message=text, images=images, local_images=[], kind=kind)
    if recording == "E":
        return E("agent_message", message=text, phase="commentary")
    image_content = [{"type": "input_image", "image_url": address} for address in images]
    if recording == "I":
        type_ = draw(st.sampled_from(["text", "Text", "input_text"]))
        name = {"user": ["UserMessage", "userMessage"], "assistant": ["AgentMessage", "agentMessage"]}[role]
        texts_of_it = [text_part(piece, type_) for piece in in_parts(draw, text)]
        content = [*texts_of_it, *(image_content if role == "user" else [])]
        return I(draw(st.sampled_from(name)), id="i", content=content)
    type_ = "input_text" if role == "user" else "output_text"
    content = [*(text_part(piece, type_) for piece in in_parts(draw, text)), *image_content]
    extra = [part for part in draw(st.lists(parts, max_size=2)) if role == "user"]
    content = [*extra, *content] if draw(st.booleans()) else [*content, *extra]
    body: Json = {"role": role, "content": content}
    if rarely(draw, 12):
        body["content"] = draw(st.sampled_from([text, None, 7, {}]))
    elif rarely(draw, 3):
        size = len(content) + (1 if rarely(draw, 6) else 0)
        kinds = draw(st.lists(st.sampled_from(KINDS), min_size=size, max_size=size))
        body["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": kinds}
    return R("message", **body) if recording == "R" else O("message", **body)


@st.composite
def messages(draw: Draw, recordings: str) -> list[Json]:
    """One message, recorded in some of the ways that the rollout knows."""
    role = draw(st.sampled_from(["user", "user", "assistant", "assistant"]))
    text = draw(spoken if role == "user" else told)
    images = draw(st.lists(addresses, max_size=2)) if role == "user" and rarely(draw, 2) else []
    ways = ways_of(draw, recordings)
    records = [recorded(draw, way, role, respaced(draw, text), images) for way in ways]
    if rarely(draw, 15):
        holder: Any = draw(st.sampled_from([True, True, "true", 1]))
        key = draw(st.sampled_from(["metadata", "internal_chat_message_metadata_passthrough"]))
        body = records[0].get("payload", records[0])
        mark = {"inherited_user_message": holder}
        body.update(mark if rarely(draw, 2) else {key: mark})
    return records


@st.composite
def repeated_messages(draw: Draw, recordings: str) -> list[Json]:
    """A message of few words, as said again and again; one of its records may be missing."""
    role = draw(st.sampled_from(["user", "user", "assistant"]))
    text = draw(repeated)
    ways = [way for way in recordings if not rarely(draw, 3)] or [recordings[0]]
    if draw(st.booleans()):
        ways.reverse()
    times = draw(st.sampled_from([1, 1, 1, 2]))
    return [recorded(draw, way, role, respaced(draw, text), []) for way in ways for _ in range(times)]


THOUGHTS = ["**Looking east**", "**Looking east**", "**Fog**", "east"]
thinking = st.one_of(texts, st.sampled_from(THOUGHTS), st.sampled_from(THOUGHTS), st.just(""), st.just(" \n"))


@st.composite
def reasonings(draw: Draw, recordings: str) -> list[Json]:
    """One thought, recorded in some of the ways."""
    text = draw(thinking)
    forms: dict[str, list[Json]] = {
        "E": [E("agent_reasoning", text=text), E("agent_reasoning_raw_content", text=text)],
        "I": [
            I("Reasoning", summary_text=[text, 7], raw_content=["raw"]),
            I("reasoning", raw_content=[text]),
        ],
        "R": [
            R("reasoning", summary=[{"type": "summary_text", "text": text}, "x"], content=None),
            R(
                "reasoning",
                summary=[{"text": f"\n{draw(thinking)} "}, {"text": text}],
                content=[{"text": "raw"}],
            ),
        ],
        "O": [O("reasoning", summary=[], content=[{"text": text}, {"text": "more"}], encrypted_content="x")],
    }
    ways = ways_of(draw, recordings)
    return [copy.deepcopy(draw(st.sampled_from(forms[way]))) for way in ways]


# ---------------------------------------------------------------- what is told once or with other words


@st.composite
def image_prompts(draw: Draw, recordings: str) -> list[Json]:
    """A prompt with an image; its mirror numbers the image in another way and names a file, or is missing."""
    words, address = draw(st.sampled_from(["look", "look\nhere", "", "[Image #2] and"])), draw(addresses)
    kinds = draw(st.sampled_from([None, None, ["user.text", "user.image", "user.text", "user.text"]]))
    content = [
        text_part(
            draw(st.sampled_from(["<image name=[Image #1]>", '<image name=[Image #1] path="/a.png">']))
        ),
        {"type": "input_image", "image_url": address, "detail": "high"},
        text_part("</image>"),
        text_part(f"[Image #1] {words}" if draw(st.booleans()) else words),
    ]
    more = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": kinds}} if kinds else {}
    prompt = (R if "R" in recordings else O)("message", role="user", content=content, **more)
    local = [{"type": "local_image", "path": "/a.png"}, text_part(f"{words}\n\n[Image #1]", "text")]
    mirrors = {
        "E": E(
            "user_message",
            message=words,
            images=draw(st.sampled_from([[], [address]])),
            local_images=["/a.png"],
        ),
        "I": I("UserMessage", id="i", content=local),
    }
    found = [mirrors[recording] for recording in recordings if recording in mirrors]
    return [prompt, *(found if draw(st.booleans()) else [])]


@st.composite
def plans(draw: Draw, recordings: str) -> list[Json]:
    """A plan: an item of its own, and woven into what the assistant says; either may be missing."""
    plan = draw(st.sampled_from(PLANS))
    wrote = draw(st.sampled_from(WOVEN)).format(respaced(draw, plan))
    way = "R" if "R" in recordings else recordings[0]
    records = [
        I(draw(st.sampled_from(["Plan", "Plan", "plan"])), id="p", text=plan),
        recorded(draw, way, "assistant", wrote, []),
        recorded(draw, recordings[0], "assistant", draw(st.sampled_from(["yes", "Look:", "b", wrote])), []),
    ]
    return [record for record in draw(st.permutations(records)) if not rarely(draw, 3)] or records[:1]


ASKED: list[Any] = [
    [{"id": "a", "question": "Which wood?"}, {"id": "b", "question": " How long? "}],
    [{"id": "b", "question": ""}, {"id": "a", "question": "Which?"}, {"id": "a", "question": "Twice?"}],
    [7, {"question": "nameless"}],
    [],
    None,
]


@st.composite
def questions(draw: Draw, recordings: str) -> list[Json]:
    """Questions to the human, and what they answered; the call may be missing or another one's."""
    make = R if "R" in recordings or "O" not in recordings else O
    id_ = draw(st.sampled_from(["call_q", "call_q", "call_q", "call_q", "call_q", "call_1", ""]))
    asked = {"questions": draw(st.sampled_from([*ASKED[:2] * 3, *ASKED[2:]]))}
    name = draw(st.sampled_from([*["request_user_input"] * 10, "shell", "request_user_input_async"]))
    call = make(
        "function_call", name=name, call_id=id_, arguments=json.dumps(asked) if draw(st.booleans()) else asked
    )
    if rarely(draw, 3):
        call.get("payload", call)["namespace"] = "client__"
    lists = st.sampled_from([["oak"], ["oak"], ["user_note: long "], ["pine", " user_note: x"], [" "], []])
    ids = st.lists(st.sampled_from(["b", "a", "a", "c"]), min_size=1, max_size=3)
    given: Json = {question: {"answers": draw(lists)} for question in draw(ids)}
    told: Json = {"answers": given}
    if rarely(draw, 4):
        given["d"] = draw(
            st.sampled_from(["pine", ["pine"], {"answers": "pine"}, {"answers": ["x"], "more": 1}, 7])
        )
    if rarely(draw, 6):
        told["more"] = 1
    text = json.dumps(told) + draw(st.sampled_from(["", "", "", "\n", " x"]))
    forms: list[Any] = [
        text,
        text,
        text,
        told,
        {"content": text},
        [text_part(text)],
        "cancelled",
        [text_part(text), text_part("")],
    ]
    type_ = draw(st.sampled_from(["function_call_output", "function_call_output", "custom_tool_call_output"]))
    output = make(type_, call_id=id_, output=draw(st.sampled_from(forms)))
    return [*([call] if not rarely(draw, 5) else []), output]
