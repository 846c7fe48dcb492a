"""Hypothesis strategies for the records of Codex rollouts; all words are made up."""

from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import strategies as st
from tests.strategies.claude_entries import Draw, Json
from tests.strategies.codex_words import (
    E,
    I,
    O,
    R,
    addresses,
    bare_images,
    bases,
    image_parts,
    image_prompts,
    messages,
    parts,
    plans,
    printed,
    questions,
    rarely,
    reasonings,
    recorded,
    repeated_messages,
    text_part,
)

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
def views(draw: Draw, recordings: str) -> list[Json]:
    """A look at an image, which was shown as a message of its own in 2025; what stands between ends it."""
    name = draw(st.sampled_from(["view_image", "view_image", "view_image", "shell"]))
    content = [{"type": "input_image", "image_url": draw(addresses)}]
    more: list[Json] = draw(st.sampled_from([[], [], [], [text_part("</image>")], [text_part("")]]))
    shown = item(draw, recordings, "message", role="user", content=content + more)
    between = st.one_of(outputs(recordings), reasonings(recordings), turns, plans(recordings))
    call = item(
        draw, recordings, "function_call", name=name, call_id=draw(call_ids), arguments='{"path":"a"}'
    )
    return [call, *(draw(between) if draw(st.booleans()) else []), shown]


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
def metas(draw: Draw, *, copied: bool = False) -> Json:
    """The first record of a rollout, of any era, with what forks and children have in it."""
    if rarely(draw, 6) and not copied:
        return {"id": "t-bare", "timestamp": "2025-08-11T06:30:00.000Z", "instructions": None, "git": {}}
    meta: Json = {"id": draw(st.sampled_from(["t-1", "t-1", "t-1", ""]))}
    meta.update(draw(st.sampled_from([{"cwd": "/reef"}, {}, {"cwd": ""}, {"cwd": "/reef/é"}])))
    meta.update(draw(st.sampled_from([{"cli_version": "0.153.1"}, {"cli_version": ""}, {}])))
    if copied:
        meta["subagent_history_start_ordinal"] = draw(st.integers(2, 7))
    elif rarely(draw, 2):
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


# What a rollout is mostly about, so that enough of each comes together in one.
THEMES = ["all", "all", "all", "twins", "plans", "questions", "questions", "thoughts", "thoughts"]


@st.composite
def scenes(draw: Draw, recordings: str, theme: str) -> list[Json]:
    """Some records that belong together."""
    kinds: dict[str, list[st.SearchStrategy[list[Json]]]] = {
        "all": [
            *[messages(recordings)] * 8,
            image_prompts(recordings),
            views(recordings),
            plans(recordings),
            *[questions(recordings)] * 2,
            *[reasonings(recordings)] * 2,
            *[tool_calls(recordings)] * 3,
            outputs(recordings),
            mcp_ends(),
            *[spawns(recordings)] * 2,
            *[turns] * 4,
            marks,
            *[noises] * 2,
            odd_records,
        ],
        "twins": [
            *[repeated_messages(recordings)] * 4,
            image_prompts(recordings),
            views(recordings),
            turns,
            noises,
        ],
        "plans": [*[plans(recordings)] * 2, repeated_messages(recordings), turns],
        "questions": [*[questions(recordings)] * 3, messages(recordings), turns],
        "thoughts": [*[reasonings(recordings)] * 3, repeated_messages(recordings), turns],
    }
    return copy.deepcopy(draw(draw(st.sampled_from(kinds[theme]))))


@st.composite
def lists_of_scenes(draw: Draw, max_scenes: int, *, spawning: bool) -> list[Json]:
    """The records of a rollout behind its first; when it is one of several, it starts others."""
    recordings = draw(st.sampled_from(ERAS))
    theme = draw(st.sampled_from(THEMES))
    # Drawn from the largest on: a list of a drawn length is mostly short.
    count = draw(st.sampled_from(range(max_scenes, 0, -1)))
    told = [record for _ in range(count) for record in draw(scenes(recordings, theme))]
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
