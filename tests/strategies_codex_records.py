"""Hypothesis strategies for the records of Codex rollouts; all words are made up."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

from hypothesis import strategies as st
from tests.strategies_entries import IMAGES, Draw, Json, short_texts, spoken_texts, texts

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
]  # fmt: skip
marked = st.sampled_from(MARKED)
spoken = st.one_of(spoken_texts, spoken_texts, spoken_texts, marked)
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


def respaced(draw: Draw, text: str) -> str:
    """The text, perhaps with other white space in it."""
    how = draw(st.integers(0, 8))
    return {6: f" {text}\n", 7: text.replace(" ", "\n"), 8: f"{text} more"}.get(how, text)


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
        content = [text_part(text, type_), *(image_content if role == "user" else [])]
        return I(draw(st.sampled_from(name)), id="i", content=content)
    content = [text_part(text, "input_text" if role == "user" else "output_text"), *image_content]
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
    text = draw(spoken if role == "user" else spoken_texts)
    images = draw(st.lists(addresses, max_size=2)) if role == "user" and rarely(draw, 2) else []
    ways = draw(st.lists(st.sampled_from(recordings), min_size=1, max_size=3))
    records = [recorded(draw, way, role, respaced(draw, text), images) for way in ways]
    if rarely(draw, 15):
        holder: Any = draw(st.sampled_from([True, True, "true", 1]))
        key = draw(st.sampled_from(["metadata", "internal_chat_message_metadata_passthrough"]))
        body = records[0].get("payload", records[0])
        mark = {"inherited_user_message": holder}
        body.update(mark if rarely(draw, 2) else {key: mark})
    return records


thinking = st.one_of(texts, st.just(""), st.just(" \n"))


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
        "R": [R("reasoning", summary=[{"type": "summary_text", "text": text}, "x"], content=None)],
        "O": [O("reasoning", summary=[], content=[{"text": text}, {"text": "more"}], encrypted_content="x")],
    }
    ways = draw(st.lists(st.sampled_from(recordings), min_size=1, max_size=3))
    return [copy.deepcopy(draw(st.sampled_from(forms[way]))) for way in ways]


# ---------------------------------------------------------------- tools

CALLS = ["call_1", "call_2", "call_3", ""]
call_ids = st.sampled_from(CALLS)
ARGUMENTS: list[Any] = [
    '{"path":"a.png","url":"u"}', ' {"file_path":"","filename":"é"}', "no JSON", "", "[1]", '{"path":7}',
    {"url": "https://reef.example"}, None, 7, '{"path":"\\ud83d"}',
]  # fmt: skip
NAMESPACES: list[Any] = [None, None, "", "mcp__reef__", "reef", "__", 7]


def item(draw: Draw, recordings: str, type_: str, **body: Any) -> Json:
    """An item, bare where the rollout knows no envelope, and sometimes elsewhere."""
    bare = "R" not in recordings and ("O" in recordings or rarely(draw, 4))
    return O(type_, **body) if bare else R(type_, **body)


@st.composite
def tool_calls(draw: Draw, recordings: str) -> list[Json]:
    """A call, sometimes with what it gave back."""
    id_ = draw(call_ids)
    function: Json = {
        "name": draw(st.sampled_from(["shell", "_view", "spawn_agent", "", 7])),
        "namespace": draw(st.sampled_from(NAMESPACES)),
        "arguments": draw(st.sampled_from(ARGUMENTS)),
        "call_id": id_,
    }
    result = draw(st.one_of(bases, st.none()))
    call = draw(
        st.sampled_from(
            [
                ("function_call", function),
                ("function_call", function),
                ("custom_tool_call", {**function, "input": "*** Begin Patch"}),
                ("local_shell_call", {"call_id": id_, "action": {}}),
                ("web_search_call", {"id": id_}),
                ("tool_search_call", {"call_id": None, "id": id_}),
                ("image_generation_call", {"id": id_, "status": "completed", "result": result}),
            ]
        )
    )
    records = [item(draw, recordings, call[0], **call[1])]
    if draw(st.booleans()):
        records += draw(outputs(recordings))
    if result is not None and rarely(draw, 2):
        end = [E("image_generation_end", call_id=id_, result=result), I("Extension", id=id_, result=result)]
        # What has ended is told before the item that it was.
        at = draw(st.sampled_from([0, len(records)]))
        records.insert(at, draw(st.sampled_from([*end, I("imageGeneration", id=id_, result=result)])))
    return records


@st.composite
def outputs(draw: Draw, recordings: str) -> list[Json]:
    """What a tool gave back: text, parts, an object, or something odd."""
    content = draw(st.lists(st.one_of(parts, image_parts, bare_images), max_size=3))
    text = draw(printed)
    kinds: list[Any] = [text, content, {"content": content}, {"content": text}, None, 7, {"agent_id": "t-2"}]
    type_ = draw(st.sampled_from(["function_call_output", "custom_tool_call_output"]))
    output = draw(st.sampled_from(kinds))
    return [item(draw, recordings, type_, call_id=draw(call_ids), output=output)]


@st.composite
def mcp_ends(draw: Draw) -> list[Json]:
    """The end of a call of a server's tool."""
    content = draw(st.lists(st.one_of(bare_images, parts), max_size=2))
    result = draw(st.sampled_from([{"Ok": {"content": content}}, {"content": content}, {"Err": "no"}, None]))
    named = {
        "server": draw(st.sampled_from(["reef", "reef", ""])),
        "tool": draw(st.sampled_from(["shot", ""])),
    }
    id_ = draw(call_ids)
    event = E("mcp_tool_call_end", call_id=id_, invocation={**named, "arguments": {}}, result=result)
    return [event if draw(st.booleans()) else I("McpToolCall", id=id_, **named, result=result)]


PROMPTS = ["count all nets", " sort the buoys\n", "mend " * 90, "gAAAAABsealed", ""]


@st.composite
def spawns(draw: Draw, recordings: str) -> list[Json]:
    """A call that starts a thread, with any evidence that names it."""
    id_, thread = draw(call_ids), draw(st.sampled_from(["t-2", "t-3", "t-4", "t-9", ""]))
    asked = {"message": draw(st.sampled_from(PROMPTS)), "agent_type": "diver"}
    asked.update(
        draw(st.sampled_from([{}, {"task_name": "reef_work"}, {"nickname": "Tern"}, {"task_name": ""}]))
    )
    arguments = json.dumps(asked) if draw(st.booleans()) else asked
    namespace = draw(st.sampled_from([None, None, "collab__"]))
    call = item(
        draw,
        recordings,
        "function_call",
        name="spawn_agent",
        call_id=id_,
        arguments=arguments,
        namespace=namespace,
    )
    told: Json = draw(
        st.sampled_from([{"agent_id": thread}, {"task_name": f"/root/{thread}"}, {"task_name": "t-3"}, {}])
    )
    evidence = [
        item(draw, recordings, "function_call_output", call_id=id_, output=json.dumps(told)),
        item(draw, recordings, "function_call_output", call_id=id_, output=told),
        E("collab_agent_spawn_end", call_id=id_, new_thread_id=thread),
        E("sub_agent_activity", event_id=id_, agent_thread_id=thread, kind=draw(st.sampled_from(ACTIVITIES))),
        E("sub_agent_activity", call_id=id_, agent_thread_id=thread, kind="started"),
        I("SubAgentActivity", id=id_, agent_thread_id=thread, kind=draw(st.sampled_from(ACTIVITIES))),
        I("CollabAgentToolCall", id=id_, tool=draw(st.sampled_from(SPAWNS)), receiver_thread_ids=[thread]),
        I("collabAgentToolCall", id=id_, tool="spawnAgent", receiver_thread_ids=[]),
    ]
    first: Json = R("message", role="user", content=[text_part(asked["message"])])
    return [
        call,
        *draw(st.lists(st.sampled_from(evidence), max_size=2)),
        *([first] if rarely(draw, 4) else []),
    ]


ACTIVITIES = ["started", "Started", "interacted", 7]
SPAWNS = ["SpawnAgent", "spawn_agent", "Wait"]

# ---------------------------------------------------------------- turns, marks, noise

NUMBERS: list[Any] = [0, 1, 1, 2, 3, 2.0, 7, -1, 1e3, True, "1", None, 12345.75]
turns: st.SearchStrategy[list[Json]] = st.one_of(
    st.sampled_from(["task_started", "turn_started"]).map(lambda type_: [E(type_, turn_id="turn-1")]),
    st.tuples(st.sampled_from(["task_complete", "turn_complete"]), st.sampled_from(NUMBERS)).map(
        lambda pair: [E(pair[0], turn_id="turn-1", duration_ms=pair[1])]
    ),
    st.just([E("turn_aborted", reason="interrupted")]),
    st.sampled_from(NUMBERS).map(lambda number: [E("thread_rolled_back", num_turns=number)]),
)
marks: st.SearchStrategy[list[Json]] = st.sampled_from(
    [
        [{"type": "compacted", "payload": {"message": "", "replacement_history": [{"type": "message"}]}}],
        [{"type": "compacted"}],
        [E("context_compacted")],
        [I("ContextCompaction", id="c")],
        [E("thread_name_updated", thread_name="Kelp")],
        [E("thread_name_updated", thread_name="")],
        [E("thread_name_updated", thread_name="Nets")],
    ]
)
noises: st.SearchStrategy[list[Json]] = st.sampled_from(
    [
        E("token_count", info=None),
        E("token_count", info={"total": 1}),
        E("web_search_end", query="kelp"),
        R("ghost_snapshot", ghost_commit={}),
        R("agent_message", author="/root", content=[{"type": "encrypted_content"}]),
        R("local_shell_call_output", output="data:image/png;base64,AAAA"),
        I("CommandExecution", command="ls"),
        I("fileChange"),
        O("ghost_snapshot"),
        O("other"),
        {"record_type": "state"},
        {"type": "turn_context", "payload": {"cwd": "/no"}},
        {"type": "world_state", "payload": {"type": "message", "role": "user", "content": "no"}},
        {"type": "inter_agent_communication", "payload": "sealed"},
        O("agent_message", author="/root", content=[]),
    ]
).map(lambda record: [record])
SHAPES: list[Any] = ["text", [1], None, 7, {}, {"type": None}, {"type": 7}, {"role": "user"}, {"role": 7}]
odd_records: st.SearchStrategy[list[Json]] = st.sampled_from(
    [
        *({"type": type_, "payload": shape} for type_ in ("response_item", "event_msg") for shape in SHAPES),
        R("semaphore"),
        E("foghorn"),
        I("SailChange"),
        E("item_completed"),
        E("item_completed", item={"type": 7}),
        {"type": "tide_table", "payload": {"type": "message"}},
        {"type": 7},
        {"type": ""},
        {"knots": 3},
        {"id": "t-bare", "timestamp": "2025-08-11T06:30:00.000Z", "instructions": None},
        {"id": "t-bare"},
        O("user_message", message="flattened words"),
        O("agent_message", message="flattened answer"),
        {"type": "message", "payload": {"role": "user", "content": "in a payload"}},
        {"type": "response_item", "role": "user", "content": "beside no payload"},
        R("message", role="user", content="one string"),
        R("message", role="developer", content=[text_part("never")]),
        R("message", role="system", content=[text_part("never")]),
        {"type": "response_item", "payload": {"role": "user", "content": [text_part("no type")]}},
        {"type": "session_meta", "id": "t-flat", "cwd": "/flat"},
    ]
).map(lambda record: [copy.deepcopy(record)])


@st.composite
def metas(draw: Draw) -> Json:
    """The first record of a rollout, of any era, with what forks and children have in it."""
    if rarely(draw, 6):
        return {"id": "t-bare", "timestamp": "2025-08-11T06:30:00.000Z", "instructions": None, "git": {}}
    meta: Json = {"id": draw(st.sampled_from(["t-1", "t-1", "t-1", ""]))}
    meta.update(draw(st.sampled_from([{"cwd": "/reef"}, {}, {"cwd": ""}, {"cwd": "/reef/é"}])))
    meta.update(draw(st.sampled_from([{"cli_version": "0.153.1"}, {"cli_version": ""}, {}])))
    if rarely(draw, 2):
        meta.update(draw(st.sampled_from(HISTORIES)))
    if rarely(draw, 2):
        meta.update(draw(st.sampled_from(ORIGINS)))
    return {"type": "session_meta", "payload": meta}


SPAWN = {"thread_spawn": {"parent_thread_id": "t-0", "depth": 1}}
HISTORIES: list[Json] = [
    *({"subagent_history_start_ordinal": number} for number in (0, 3, 5, 5.0, "3", None, True)),
    {"history_base": {"end_ordinal_exclusive": 4}},
    {"history_base": {"end_ordinal_exclusive": 4}, "subagent_history_start_ordinal": "x"},
    {"forked_from_id": "t-0"},
    {"forked_from_id": ""},
    {"parent_thread_id": "t-0"},
    {"source": {"subagent": SPAWN}},
    {"thread_source": "subagent"},
]
MEMORY = "memory_consolidation"
ORIGINS: list[Json] = [
    *(
        {"source": {"subagent": name}}
        for name in ("guardian", "review", "compact", "memory_consolidation", "x")
    ),
    *({"source": {"subagent": {"other": name}}} for name in ("guardian", "x", 7)),
    {"source": {"subagent": SPAWN}},
    {"source": {"subagent": {"review": {}}}},
    {"source": {"subagent": {"a": 1, "guardian": 2}}},
    *(
        {"thread_source": name}
        for name in ("guardian_review", "subagent", "review", "memory_consolidation", "x")
    ),
    {"originator": "codex_exec"},
    {"source": "exec"},
    {"source": "cli", "originator": "Codex Desktop"},
]

# ---------------------------------------------------------------- rollouts

ERAS = ["ER", "ER", "IR", "O", "R", "EI", "EIRO", "OE", "RO"]


@st.composite
def scenes(draw: Draw, recordings: str) -> list[Json]:
    """Some records that belong together."""
    kinds: list[st.SearchStrategy[list[Json]]] = [
        *[messages(recordings)] * 7,
        *[reasonings(recordings)] * 2,
        *[tool_calls(recordings)] * 3,
        outputs(recordings),
        mcp_ends(),
        *[spawns(recordings)] * 2,
        *[turns] * 4,
        marks,
        *[noises] * 2,
        odd_records,
    ]
    return copy.deepcopy(draw(draw(st.sampled_from(kinds))))


@st.composite
def lists_of_scenes(draw: Draw, max_scenes: int, *, spawning: bool) -> list[Json]:
    """The records of a rollout behind its first; when it is one of several, it starts others."""
    recordings = draw(st.sampled_from(ERAS))
    count = draw(st.integers(1, max_scenes))
    told = [record for _ in range(count) for record in draw(scenes(recordings))]
    if not spawning:
        return told
    asked = draw(st.lists(st.sampled_from(PROMPTS), max_size=1))
    begun = [recorded(draw, recordings[0], "user", prompt, []) for prompt in asked]
    started = draw(st.lists(spawns(recordings), max_size=2))
    return copy.deepcopy([*begun, *(record for scene in started for record in scene), *told])


@st.composite
def _bare_records(draw: Draw) -> list[Json]:
    count = draw(st.integers(0, 5))
    kinds = [messages("O"), reasonings("O"), tool_calls("O"), outputs("O"), odd_records]
    return [record for _ in range(count) for record in draw(draw(st.sampled_from(kinds)))]


bare_records = _bare_records()
"""The items of a document."""

BENT: list[Any] = [
    None,
    7,
    -1,
    1.5,
    True,
    "x",
    "",
    [],
    {},
    ["x"],
    {"type": "x"},
    [[]],
    "data:image/png;base64,",
]


@st.composite
def bent(draw: Draw, record: Json) -> Json:
    """The record with one value of it, at any depth, replaced or gone."""
    record = copy.deepcopy(record)
    here: Any = record
    while True:
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        if not keys:
            return record
        key = draw(st.sampled_from(keys))
        if isinstance(here[key], dict | list) and here[key] and not rarely(draw, 3):
            here = here[key]
            continue
        if rarely(draw, 3):
            del here[key]
        else:
            here[key] = draw(st.sampled_from(BENT))
        return record
