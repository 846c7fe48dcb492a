"""Hypothesis strategies for the entries of Claude Code sessions; all words are made up."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]
Draw = st.DrawFn

# ---------------------------------------------------------------- images made by hand


def png(shade: int) -> bytes:
    """A PNG of one grey pixel."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    return (
        b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes([0, shade]))) + chunk(b"IEND", b"")
    )


GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAkQBADs=")
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00\xff\xd9"
WEBP = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
BMP = b"BM\x3a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00" + bytes(44)


def image_block(data: str, media_type: str = "image/png") -> Json:
    """An image block as transcripts hold it."""
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}


IMAGES = [png(0), png(9), GIF, JPEG, WEBP, BMP]
images = st.one_of(
    st.sampled_from(IMAGES).map(lambda data: image_block(base64.b64encode(data).decode())),
    st.sampled_from(IMAGES).map(lambda data: image_block(base64.b64encode(data).decode(), "image/x-wrong")),
    st.just(image_block("@@@ no base64 @@@")),
    st.just(image_block(f"{base64.b64encode(png(9)).decode()[:-8]}@@@@@@@@")),
    st.just(image_block(f"{base64.b64encode(png(9)).decode()[:-9]}\n")),
    st.just(image_block(base64.b64encode(GIF).decode().rstrip("="))),
    st.just(image_block(base64.b64encode(b"plain words, no picture").decode())),
    st.just(image_block(base64.b64encode(b"BMore words that are no bitmap at all").decode())),
    st.just({"type": "image", "source": {"type": "url", "url": "https://example.invalid/kelp.png"}}),
)

# ---------------------------------------------------------------- words

# Stands in a drawn text for bytes that are no UTF-8; `encode_text` puts them there.
NOT_UTF8 = "\ue000"
WORDS = [
    "kelp", "lantern", "sort the buoys", "why is it slow", "mend net 7", "fn tide() { return [1] }",
    "a/b.txt", "x",
]  # fmt: skip
ODD = [
    "\u2028", "\u2029", "\x85", "\xa0", "\x1c", "\u3000", "\u200b", "\ufeff", "\x00", "\x01", "\t", "\r\n",
    "\u2003", "\x1f",
    "\n\n", " ", '"', "\\", "\\\\", "\\ud83d", "\\u0041", "\ud83d", "\ude00", "\ud83d\ude00", "\U0001f41f",
    "\ufffd", "é",
    "}{", '{"type":"user"', '{"parentUuid":null', "</system-reminder>", "<system-reminder>", "agentId: k3",
    "[Request", "]", "```\n{}\n```", '\\"}}, "type": "progress"}',
]  # fmt: skip
plain_texts = st.lists(st.sampled_from(WORDS + ODD), min_size=0, max_size=5).map(" ".join)
short_texts = st.sampled_from(WORDS)
glued_texts = st.lists(st.sampled_from(WORDS + ODD), min_size=0, max_size=4).map("".join)
texts = st.one_of(short_texts, plain_texts, glued_texts)
lossy_texts = st.tuples(short_texts, texts).map(lambda pair: pair[0] + NOT_UTF8 + pair[1])
spoken_texts = st.one_of(texts, texts, texts, lossy_texts)

CONTEXTS = [
    "<system-reminder>The tide table changed.</system-reminder>",
    "<system-reminder>\n<ide_selection>odd</ide_selection></system-reminder>",
    "<ide_opened_file>The user opened reef.py</ide_opened_file>",
    "<ide_selection>lines 3 to 9</ide_selection>",
    "<system-reminder>not closed",
]
MARKERS = [
    "<local-command-stdout>tide: low</local-command-stdout>",
    "<local-command-caveat>made by commands</local-command-caveat>",
    "<command-name>/clear</command-name><command-message>clear</command-message>",
    "<command-name>/compact</command-name>\n            <command-args></command-args>",
    "<command-name>/compact</command-name><command-args>keep the buoys</command-args>",
    "<command-message>r</command-message>\n<command-name>r</command-name>\n<command-args>{}</command-args>",
    "<command-message>r</command-message><command-args> <ide_selection>s</ide_selection>two </command-args>",
    "<command-args>first</command-args><command-name>/last</command-name>",
    "<command-contents>body</command-contents><command-name>/body</command-name>",
    "<bash-input>ls nets</bash-input>",
    "<bash-input> </bash-input>",
    "<bash-input>grep 'continued from a previous conversation' nets</bash-input>",
    "<bash-stdout>net1</bash-stdout><bash-stderr></bash-stderr>",
    "<bash-stderr>no net</bash-stderr>",
    "<user-memory-input>always knot twice</user-memory-input>",
    "<user-memory-input></user-memory-input>",
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use]",
    "[Request interrupted by user]\nno, the other net",
    "[Request interrupted by user without an end",
    "<task-notification><task-id>b1</task-id><status>completed</status></task-notification>",
    '<teammate-message teammate_id="crab" color="red">sort them</teammate-message>',
    '<cross-session-message from="eel">tide</cross-session-message>',
    '<agent-message from="eel">tide</agent-message>',
    "<user-prompt-submit-hook>ok</user-prompt-submit-hook>",
    "<session-start-hook>ok</session-start-hook>",
    "<post-tool-use-hook><ide_diagnostics>none</ide_diagnostics></post-tool-use-hook>",
    "<tick>", "<goal>mend</goal>", "<goal> is no tag",
    "<agent-notification><agent-id>a1</agent-id></agent-notification>",
    "<ci-monitor-event>one comment</ci-monitor-event>",
    "[SYSTEM NOTIFICATION - NOT USER INPUT]\n<task-notification><task-id>b1</task-id></task-notification>",
    'Another Claude session sent a message:\n<agent-message from="eel">tide</agent-message>',
    "Another Claude session sent a message, why?",
    "A peer session sent a message: <cross-session-message>tide</cross-session-message>",
    "A peer session sent: what is it", "[Cross-session delivery notice] lost", "[workflow harness: 2 of 3]",
    "Operation stopped by hook: the net is torn", "Implement the following plan:\n- mend it",
    "what does <system-reminder>it</system-reminder> say?",
    "Stop hook feedback:\nnet is torn",
    "SubagentStop hook feedback:\nnet is torn",
    "[Workflow harness \u2014 computed task] mend it",
    "[Image: source: /reef/net.png]",
    "Base directory for this skill: /reef",
    "Caveat: The messages below were generated by the user while running local commands. DO NOT respond.",
    "This session is being continued from a previous conversation that ran out of context. Nets were sorted.",
    "It was CONTINUED FROM A PREVIOUS CONVERSATION, they say",
    "/reef", "/reef two nets", "/reef/notes.txt is torn", "/ no command",
    "The user doesn't want to proceed with this tool use.",
]  # fmt: skip
marked_texts = st.tuples(
    st.sampled_from(["", "", " ", "\n\t", *CONTEXTS]),
    st.sampled_from(MARKERS + CONTEXTS),
    st.sampled_from(["", " ", *CONTEXTS, "and more"]),
).map("".join)
human_texts = st.one_of(spoken_texts, marked_texts)

# The few texts of the queue, so that operations meet each other.
QUEUE_TEXTS = [
    "count again", "mend net 7", "count again and mend net 7", " count again ", "", "/mcp", "/tidy the nets",
    "/reef/notes.txt is torn", "<task-notification><task-id>b1</task-id></task-notification>",
    "<system-reminder>s</system-reminder>count again", "[Request interrupted by user]",
    "<bash-input>ls</bash-input>", '{"task_id":"b1","task_type":"local_bash"}', '{"task_id": "b1"}',
    '{"task_id":"b2","task_type":"local_agent"} and more', "/mcp ", "<goal> is no tag",
    "<agent-notification><agent-id>a1</agent-id></agent-notification>",
]  # fmt: skip


def text_block(text: str) -> Json:
    """A text block."""
    return {"type": "text", "text": text}


queue_contents = st.one_of(
    st.sampled_from(QUEUE_TEXTS),
    st.lists(st.one_of(st.sampled_from(QUEUE_TEXTS).map(text_block), images), max_size=2),
)

# ---------------------------------------------------------------- entries


def rarely(draw: Draw, one_in: int) -> bool:
    """True now and then. Drawn from the middle of a range, for its ends come more often than the rest."""
    return draw(st.integers(0, one_in - 1)) == one_in // 2


maybe_true = st.sampled_from([True, True, False, None, "true", 1])
origins = st.sampled_from(
    [
        {"kind": "human"},
        {"kind": "channel"},
        {"kind": "task-notification"},
        {"kind": "auto-continuation"},
        {"kind": None},
        {},
        None,
        "peer",
    ]
)
prompt_sources = st.sampled_from(
    ["typed", "typed", "queued", "suggestion_accepted", "sdk", "system", None, 7]
)
user_flags = st.fixed_dictionaries(
    {},
    optional={
        "isMeta": maybe_true,
        "isVisibleInTranscriptOnly": maybe_true,
        "isCompactSummary": maybe_true,
        "isSynthetic": maybe_true,
        "origin": origins,
        "promptSource": prompt_sources,
        "planContent": st.sampled_from(["# Mend", " ", None]),
        "sourceToolUseID": st.sampled_from(["toolu_1", "", None]),
        "teamName": st.sampled_from(["reefers", "", None]),
    },
)
no_flags: st.SearchStrategy[Json] = st.just({})
typed_flags: st.SearchStrategy[Json] = st.sampled_from(
    [
        {"origin": {"kind": "human"}},
        {"promptSource": "typed"},
        {"origin": {"kind": "human"}, "promptSource": "sdk"},
    ]
)
TOOL_IDS = [f"toolu_{number}" for number in range(6)]
tool_ids = st.sampled_from(TOOL_IDS)
nested_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["type", "parentUuid", "k\n", "é"]), inner, max_size=3),
    ),
    max_leaves=6,
)
result_contents = st.one_of(
    texts,
    st.none(),
    st.lists(
        st.one_of(
            texts.map(text_block),
            images,
            st.builds(lambda image: {"type": "nest", "deep": [[image]]}, images),
        ),
        max_size=3,
    ),
)
tool_results = st.builds(
    lambda id_, content: {"tool_use_id": id_, "type": "tool_result", "content": content, "is_error": False},
    st.sampled_from([*TOOL_IDS, "toolu_nobody"]),
    result_contents,
)
user_contents = st.one_of(
    human_texts,
    human_texts,
    st.lists(
        st.one_of(
            human_texts.map(text_block),
            human_texts.map(text_block),
            human_texts,
            images,
            tool_results,
            st.just({"type": "document"}),
        ),
        max_size=3,
    ),
    st.lists(tool_results, min_size=1, max_size=2),
    st.sampled_from([None, 7, {}]),
)


@st.composite
def users(draw: Draw) -> Json:
    """A user entry."""
    message: Any = {"role": "user", "content": draw(user_contents)}
    extra = draw(st.one_of(no_flags, no_flags, user_flags, typed_flags))
    if rarely(draw, 30):
        message = draw(st.sampled_from(["odd", None, [], {"contenst": "odd"}]))
    return {"type": "user", "message": message, **extra}


# A wrong `input` comes with every call: it is a JSON string in some old files.
tool_inputs = st.fixed_dictionaries(
    {},
    optional={
        "file_path": st.sampled_from(["/reef/a.png", "", None, 3]),
        "url": st.just("https://example.invalid"),
        "path": st.just("é"),
    },
)
tool_uses = st.builds(
    lambda kind, id_, name, arguments: {"type": kind, "id": id_, "name": name, "input": arguments},
    st.sampled_from(["tool_use", "tool_use", "server_tool_use", "mcp_tool_use"]),
    tool_ids,
    st.sampled_from(["Bash", "Read", "mcp__reef__shot", "web_search"]),
    st.one_of(tool_inputs, st.just('{"file_path": "/a"}')),
)
assistant_blocks = st.one_of(
    spoken_texts.map(text_block),
    spoken_texts.map(lambda text: {"type": "thinking", "thinking": text, "signature": "c2ln"}),
    tool_uses,
    st.just({"type": "redacted_thinking", "data": "x"}),
    st.just({"type": "text"}),
)


@st.composite
def assistants(draw: Draw) -> Json:
    """An assistant entry."""
    content = draw(
        st.one_of(st.lists(assistant_blocks, max_size=3), st.lists(assistant_blocks, max_size=3), texts)
    )
    message = {
        "model": "reef-1",
        "id": draw(st.sampled_from(["msg_1", "msg_2"])),
        "type": "message",
        "role": "assistant",
        "content": content,
    }
    if rarely(draw, 30):
        message["model"] = "<synthetic>"
    if rarely(draw, 20):
        del message["id"]
    extra = {"isApiErrorMessage": True} if rarely(draw, 30) else {}
    return {"message": message, "requestId": "req_1", "type": "assistant", **extra}


durations = st.sampled_from([0, 1, 341765, 12.75, -1, "7", True, None])
systems: st.SearchStrategy[Json] = st.one_of(
    durations.map(lambda duration: {"type": "system", "subtype": "turn_duration", "durationMs": duration}),
    st.just(
        {
            "type": "system",
            "subtype": "compact_boundary",
            "content": "compacted",
            "compactMetadata": {"trigger": "auto"},
        }
    ),
    texts.map(lambda text: {"type": "system", "subtype": "stop_hook_summary", "content": text}),
    texts.map(lambda text: {"type": "system", "content": text}),
)
queued_commands = st.builds(
    lambda prompt, inner, outer: {
        "attachment": {"type": "queued_command", "prompt": prompt, **inner},
        "type": "attachment",
        **outer,
    },
    queue_contents,
    st.fixed_dictionaries(
        {},
        optional={
            "commandMode": st.sampled_from(["prompt", "task-notification"]),
            "origin": origins,
            "isMeta": st.just(value=False),
            "promptSource": prompt_sources,
        },
    ),
    st.one_of(
        no_flags, no_flags, st.fixed_dictionaries({}, optional={"isMeta": maybe_true, "origin": origins})
    ),
)
mentioned_files: st.SearchStrategy[Json] = st.builds(
    lambda content: {
        "attachment": {"type": "file", "filename": "/a", "content": content},
        "type": "attachment",
    },
    st.one_of(
        images, images, st.just({"type": "text", "file": {"content": "words"}}), st.lists(images, max_size=2)
    ),
)
attachments: st.SearchStrategy[Json] = st.one_of(
    queued_commands,
    mentioned_files,
    nested_values.map(
        lambda value: {"attachment": {"type": "skill_listing", "content": value}, "type": "attachment"}
    ),
    st.sampled_from(
        [
            {"type": "attachment"},
            {"type": "attachment", "attachment": "odd"},
            {"type": "attachment", "attachment": {"x": 1}},
        ]
    ),
)


@st.composite
def queue_operations(draw: Draw) -> Json:
    """A queue operation, with or without content."""
    operation = draw(
        st.sampled_from(["enqueue", "enqueue", "enqueue", "dequeue", "remove", "remove", "popAll", "odd"])
    )
    entry: Json = {"type": "queue-operation", "operation": operation}
    if operation == "enqueue" or (operation == "remove" and draw(st.booleans())):
        entry["content"] = None if rarely(draw, 20) else draw(queue_contents)
    return entry


facts: st.SearchStrategy[Json] = st.one_of(
    texts.map(lambda text: {"type": "summary", "summary": text, "leafUuid": "leaf"}),
    st.builds(
        lambda text, leaf: {"type": "summary", "summary": text, "leafUuid": f"u-{leaf}"},
        short_texts,
        st.integers(0, 20),
    ),
    short_texts.map(lambda text: {"type": "ai-title", "aiTitle": text}),
    short_texts.map(lambda text: {"type": "custom-title", "customTitle": text}),
    st.just(
        {"type": "pr-link", "prNumber": 7, "prUrl": "https://example.invalid/7", "prRepository": "reef/nets"}
    ),
    short_texts.map(lambda text: {"type": "last-prompt", "lastPrompt": text, "sessionId": "s-elsewhere"}),
    st.just({"type": "last-prompt", "leafUuid": "u-3"}),
    st.just({"type": "continued-in", "continuedInSessionId": "s-9"}),
)
NOISE_TYPES = [
    "progress",
    "file-history-snapshot",
    "mode",
    "tag",
    "cost-state",
    "saved_hook_context",
    "marble-origami-x",
    "result",
]
noises = st.builds(
    lambda type_, value, order: {"type": type_, "data": value} if order else {"data": value, "type": type_},
    st.sampled_from(NOISE_TYPES),
    st.one_of(
        nested_values,
        st.just({"message": {"type": "user", "message": {"role": "user", "content": "nested words"}}}),
    ),
    st.booleans(),
)
unknowns: st.SearchStrategy[Json] = st.one_of(
    st.sampled_from(["kraken", "kraken-2", "k" * 150, "", "\ud83d", "Üñ"]).map(
        lambda type_: {"type": type_, "x": 1}
    ),
    st.sampled_from([{}, {"type": None}, {"type": 5}, {"type": ["user"]}, {"x": {"type": "user"}}]),
)


agent_call_ids = st.integers(0, 15).map(lambda number: f"toolu_agent_{number}")
result_words = st.builds(
    lambda id_, text: {"tool_use_id": id_, "type": "tool_result", "content": text}, tool_ids, texts
)


@st.composite
def agent_work(draw: Draw, number: int) -> list[Json]:
    """A call of an agent, its progress and its result, with any evidence that names the agent."""
    call, agent = f"toolu_agent_{number}", draw(st.sampled_from(["a1", "a2", "a3", "a4"]))
    prompt = draw(st.sampled_from(["count all nets", "sort the buoys by colour", "mend " * 90]))
    name = draw(st.sampled_from(["Task", "Agent"]))
    arguments = {"description": "reef work", "prompt": prompt, "subagent_type": "diver"}
    block = {"type": "tool_use", "id": call, "name": name, "input": arguments}
    entries: list[Json] = [{"message": {"id": "msg_3", "content": [block]}, "type": "assistant"}]
    evidence = draw(st.sets(st.sampled_from(["result", "text", "usage", "totals", "progress"])))
    if draw(st.booleans()):
        text = "All done."
        if "text" in evidence:
            text += f"\nagentId: {agent} (for resuming)"
        if "usage" in evidence:
            text += "\n<usage>total_tokens: 12\ntool_uses: 3\nduration_ms: 77</usage>"
        if "progress" in evidence:
            data = {"type": "agent_progress", "agentId": agent, "prompt": prompt}
            entries.append(
                {"type": "progress", "data": data, "parentToolUseID": call, "toolUseID": "agent_msg_1"}
            )
        content = draw(st.sampled_from([text, [text_block("Report"), text_block(text)]]))
        extra: Json = {"status": "completed"}
        if "result" in evidence:
            extra["agentId"] = agent
        if "totals" in evidence:
            extra.update({"totalTokens": 40, "totalToolUseCount": 2, "totalDurationMs": 900})
        result = {"tool_use_id": call, "type": "tool_result", "content": content}
        entries.append(
            {"type": "user", "message": {"role": "user", "content": [result]}, "toolUseResult": extra}
        )
    return entries


@st.composite
def sidechains(draw: Draw, number: int) -> list[Json]:
    """Lines of an agent that ran inline, with or without its id, chained by their parents."""
    prompt = draw(st.sampled_from(["count all nets", "sort the buoys by colour", "\n" + "mend " * 90]))
    if draw(st.booleans()):
        prompt = f'<teammate-message teammate_id="lead">{prompt}</teammate-message>'
    uuids = [f"side-{number}-{step}" for step in range(3)]
    asked: Json = {"type": "user", "message": {"role": "user", "content": prompt}, "parentUuid": None}
    # The entry that one answers may have been dropped.
    parent = draw(st.sampled_from([*uuids[:1] * 4, "side-nobody", f"side-{number - 1}-0"]))
    said: Json = {"type": "assistant", "message": {"content": [text_block("diving")]}, "parentUuid": parent}
    found = [draw(st.one_of(result_words, tool_results)), *draw(st.lists(images, max_size=1))]
    done: Json = {"type": "user", "message": {"content": found}, "parentUuid": uuids[1]}
    entries = [asked, said, done][draw(st.sampled_from([0, 0, 0, 1])) : draw(st.integers(2, 3))]
    agent = draw(st.sampled_from([None, None, "a4", "a5"]))  # none that has a file of its own
    for entry, uuid in zip(entries, uuids, strict=False):
        entry.update({"uuid": uuid, "isSidechain": True})
        if agent:
            entry["agentId"] = agent
    return entries


def alone(entry: Json) -> list[Json]:
    """A scene of one entry."""
    return [entry]


# How often each kind of scene comes. `one_of` would flatten its branches and lose the weights.
SCENES: list[st.SearchStrategy[list[Json]]] = [
    *[users().map(alone)] * 6,
    *[assistants().map(alone)] * 5,
    *[queue_operations().map(alone)] * 5,
    *[queued_commands.map(alone)] * 2,
    *[systems.map(alone)] * 2,
    attachments.map(alone),
    facts.map(alone),
    *[noises.map(alone)] * 2,
    unknowns.map(alone),
]
