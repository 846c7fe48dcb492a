"""Hypothesis strategies for what Claude Code puts into tool results beside output; all words are made up."""

from __future__ import annotations

from hypothesis import strategies as st
from tests.strategies.claude_entries import (
    CONTEXTS,
    SCENES,
    Draw,
    Json,
    agent_work,
    alone,
    images,
    rarely,
    short_texts,
    sidechains,
    text_block,
    texts,
)

REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."
SAID = " To tell you how to proceed, the user said:\n"
NOTE = "\n\nNote: The user's next message may contain a correction or preference."

CLARIFIED = [
    "The user wants to clarify these questions.\n    Start.\n\n    Questions asked:\n" + asked
    for asked in (
        '- "Which net?"\n  (No answer provided)',
        '- "Which net?"\n  Answer: the old\none\n- "How many?"\n  Answer: 2\n  User notes: or 3',
        '- "Which net?"\n  User notes: neither\n- "How many?"',
        "",
    )
]
QUESTIONS = ["Which net?", 'The "old" one, or the new?', "How many?", ""]
said_words = st.one_of(
    texts, texts, st.sampled_from([*CONTEXTS, *CLARIFIED, f"mend it{NOTE}", "no, The user said: mend"])
)
rejections = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", " ", "So: "]),
        st.sampled_from(
            [
                REJECTED,
                REJECTED,
                "The user doesn't want to take this action right now.",
                "The user doesn't want to mend it.",
                "Permission for this tool use was denied. The tool use was rejected.",
                "The agent proposed a plan that was rejected by the user.",
            ]
        ),
        st.one_of(st.just(""), said_words.map(lambda words: SAID + words)),
        st.sampled_from(["", NOTE, NOTE, "\n\nNote: mine", CONTEXTS[0]]),
    ),
)
answered = st.one_of(
    texts,
    texts,
    st.sampled_from(["", "(notes only)"]),
    st.lists(st.one_of(short_texts, st.none()), max_size=3),
    st.none(),
    st.just(7),
)
notes: st.SearchStrategy[object] = st.one_of(
    st.builds(lambda words: {"notes": words}, texts), st.sampled_from([{}, {"preview": "p"}, None, "odd"])
)
told = st.lists(
    st.tuples(
        st.sampled_from(QUESTIONS),
        st.one_of(short_texts, texts, st.just('a", "b')),
        st.sampled_from(
            [
                "",
                "",
                " selected preview:\nx",
                " user notes: tide",
                " notes: ebb",
                " selected preview:\ny user notes: z",
                ', "odd"=(no option selected) notes: none of them',
            ]
        ),
    ),
    max_size=3,
).map(lambda pairs: ", ".join(f'"{question}"="{answer}"{behind}' for question, answer, behind in pairs))


@st.composite
def answer_texts(draw: Draw) -> str:
    """What the model reads of the answers."""
    start = draw(
        st.sampled_from(
            [
                "User has answered your questions: ",
                "Your questions have been answered: ",
                "The user answered: ",
                "The user responded: ",
                "No response: ",
            ]
        )
    )
    body = draw(st.one_of(told, told, texts))
    return start + body + draw(st.sampled_from([". You can now continue with these answers in mind.", ""]))


plans = st.one_of(texts, texts, st.none(), st.just(""))


# Tools whose results hold words of the human or a plan, mostly with a result that fits.
ASKING = ["AskUserQuestion", "AskUserQuestion", "ExitPlanMode", "Bash"]


@st.composite
def human_results(draw: Draw, number: int) -> list[Json]:
    """A call and a result with words of the human in it, or with a plan."""
    call = f"toolu_asked_{number if draw(st.booleans()) else 0}"
    tool, kind = draw(st.sampled_from(ASKING)), draw(st.sampled_from(ASKING))
    asked: object = {"plan": draw(plans)} if tool == "ExitPlanMode" and draw(st.booleans()) else {}
    if rarely(draw, 20):
        asked = draw(st.sampled_from(['{"plan": " as a string "}', "odd", None]))
    block = {"type": "tool_use", "id": call, "name": tool, "input": asked}
    entries: list[Json] = [{"message": {"id": f"msg_{number}", "content": [block]}, "type": "assistant"}]
    if rarely(draw, 6):
        entries = []
    text = draw(answer_texts() if kind == "AskUserQuestion" else rejections if kind == "Bash" else texts)
    content: object = draw(st.sampled_from([text, text, [text_block(text)], None]))
    result = {"tool_use_id": call, "type": "tool_result", "content": content}
    blocks: list[Json] = [{**result, "is_error": draw(st.sampled_from([True, True, False]))}]
    if rarely(draw, 6):
        blocks.append({"tool_use_id": "toolu_1", "type": "tool_result", "content": draw(rejections)})
    if rarely(draw, 6):
        blocks.append(text_block(draw(texts)))
    if rarely(draw, 6):
        blocks.append(draw(images))
    entry: Json = {"type": "user", "message": {"role": "user", "content": blocks}}
    entry.update(draw(result_flags))
    given_back = {"AskUserQuestion": answer_results, "ExitPlanMode": plan_results}
    for name in draw(st.sampled_from([RESULT_NAMES[:1], RESULT_NAMES[:1], RESULT_NAMES[1:], RESULT_NAMES])):
        entry[name] = draw(given_back.get(kind, odd_results) if draw(st.booleans()) else odd_results)
    return [*entries, entry]


RESULT_NAMES = ["toolUseResult", "tool_use_result"]


result_flags: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "toolDenialKind": st.sampled_from(["user-rejected", "user-rejected", "other"]),
        "userFeedback": said_words,
        "planContent": plans,
        "isSynthetic": st.sampled_from([None, None, True]),
        "isMeta": st.sampled_from([None, None, True]),
    },
)
answer_results: st.SearchStrategy[object] = st.fixed_dictionaries(
    {"answers": st.dictionaries(st.sampled_from(QUESTIONS), answered, max_size=3)},
    optional={
        "annotations": st.dictionaries(st.sampled_from(QUESTIONS), notes, max_size=2),
        "response": texts,
        "questions": st.sampled_from([[{"question": "Which net?"}, {"header": "odd"}], [], None]),
    },
)
plan_results: st.SearchStrategy[object] = st.fixed_dictionaries(
    {}, optional={"plan": plans, "planContent": plans}
)
odd_results: st.SearchStrategy[object] = st.sampled_from(
    [None, "Error: rejected", {"answers": None}, {"answers": {}}]
)

# ---------------------------------------------------------------- agents that are told of later

usages = st.sampled_from(
    [
        "<subagent_tokens>41</subagent_tokens><tool_uses>3</tool_uses><duration_ms>250</duration_ms>",
        "<tool_uses>4</tool_uses>",
        "total_tokens: 12\ntool_uses: 3",
        "<total_tokens> 8</total_tokens><duration_ms>fast</duration_ms>",
        "",
    ]
)
reports = st.sampled_from(["", "ok", "<usage><tool_uses>9</tool_uses></usage><tool-use-id>x</tool-use-id>"])


@st.composite
def notifications(draw: Draw) -> list[Json]:
    """A notification of what an agent in the background used, in one of the places it stands in."""
    call = f"toolu_agent_{draw(st.integers(0, 15))}"
    text = (
        f"<task-notification>\n<tool-use-id>{call}</tool-use-id>\n<result>{draw(reports)}</result>\n"
        f"<usage>{draw(usages)}</usage>\n</task-notification>"
    )
    preamble = draw(st.sampled_from(["", "", "[SYSTEM NOTIFICATION - NOT USER INPUT]\n", "so "]))
    text = preamble + text
    by: Json = draw(
        st.sampled_from([{"origin": {"kind": "task-notification"}}, {}, {"origin": {"kind": "human"}}])
    )
    attached = {"type": "queued_command", "prompt": text, "commandMode": "task-notification"}
    places: list[Json] = [
        {"type": "user", "message": {"role": "user", "content": text}, **by},
        {"type": "queue-operation", "operation": "enqueue", "content": text},
        {"type": "attachment", "attachment": attached},
    ]
    return [dict(place) for place in draw(st.lists(st.sampled_from(places), min_size=1, max_size=3))]


@st.composite
def spawns(draw: Draw, number: int) -> list[Json]:
    """A call that starts a member of a team, or a workflow."""
    call = f"toolu_agent_{number}"
    is_workflow = draw(st.booleans())
    asked = {"prompt": "count all nets", "description": "team work", "name": "mate"}
    name = "Workflow" if is_workflow else "Agent"
    block = {"type": "tool_use", "id": call, "name": name, "input": {} if is_workflow else asked}
    if is_workflow:
        run = draw(st.sampled_from(["wf_1", "wf_2", "wf_2"]))
        answer: Json = draw(
            st.sampled_from(
                [
                    {"runId": run},
                    {"transcriptDir": f"/reef/{run}"},
                    {"transcriptDir": f"C:\\reef\\{run}\\"},
                    {},
                ]
            )
        )
        text = draw(st.sampled_from(["launched", f"Task ID: 1\nTranscript dir: /reef/{run} "]))
    else:
        id_ = draw(st.sampled_from(["mate@crew", "a1", "a2", ""]))
        answer = {
            "status": "teammate_spawned",
            "agent_id": id_,
            "name": draw(st.sampled_from(["mate", "", "eel"])),
        }
        text = f"Spawned.\nagentId: {id_}"
    result = {"tool_use_id": call, "type": "tool_result", "content": text}
    return [
        {"message": {"id": f"msg_{number}", "content": [block]}, "type": "assistant"},
        {
            "type": "user",
            "message": {"role": "user", "content": [result]},
            draw(st.sampled_from(RESULT_NAMES)): answer,
        },
    ]


@st.composite
def plans_gone_on_with(draw: Draw) -> list[Json]:
    """A prompt that the client wrote from a plan, with or without what the human said to it."""
    plan = draw(st.sampled_from(["# Mend", " # Mend\n\nUser feedback on this plan: mine\n", "", "net"]))
    feedback = draw(st.one_of(st.just(""), texts.map("\n\nUser feedback on this plan: {}".format)))
    hint = draw(st.sampled_from(["", "\n\nRead the full transcript at: /reef"]))
    start = draw(st.sampled_from(["Implement the following plan:\n\n"] * 3 + ["Go on: ", ""]))
    flags: Json = draw(st.sampled_from([{}, {}, {}, {"isMeta": True}, {"isSynthetic": True}]))
    entry = {
        "type": "user",
        "message": {"role": "user", "content": f"{start}{plan}{hint}{feedback}"},
        "origin": {"kind": draw(st.sampled_from(["auto-continuation"] * 3 + ["human", "peer"]))},
        "planContent": draw(st.sampled_from([plan, plan, plan, "# Other", None])),
        **flags,
    }
    return [entry]


@st.composite
def streamed(draw: Draw, number: int) -> list[Json]:
    """Lines of an agent in a saved stream: they name the call, and no parent."""
    call = f"toolu_agent_{draw(st.sampled_from([number, max(number - 1, 0)]))}"
    asked: Json = {"type": "user", "message": {"role": "user", "content": "count all nets"}}
    said: Json = {"type": "assistant", "message": {"id": "msg_4", "content": [text_block("in a stream")]}}
    parent = draw(st.sampled_from([call, call, call, "", None]))
    return [{**entry, "parent_tool_use_id": parent, "parentUuid": None} for entry in (asked, said)]


@st.composite
def parallel_calls(draw: Draw, number: int) -> list[Json]:
    """An answer that calls two tools at once: its results fork the tree."""
    uuids = [f"par-{number}-{step}" for step in range(4)]
    calls = [f"toolu_par_{number}_{step}" for step in range(2)]
    blocks = [{"type": "tool_use", "id": call, "name": "Bash", "input": {}} for call in calls]
    entries: list[Json] = [
        {"type": "assistant", "message": {"id": f"msg_par_{number}", "content": [block]}} for block in blocks
    ]
    entries[1]["parentUuid"] = uuids[0]
    for step, call in enumerate(calls):
        result = {"tool_use_id": call, "type": "tool_result", "content": draw(st.one_of(texts, rejections))}
        parent = draw(st.sampled_from([uuids[step], uuids[step], "u-0"]))
        entries.append({"type": "user", "message": {"content": [result]}, "parentUuid": parent})
    for entry, uuid in zip(entries, uuids, strict=True):
        entry["uuid"] = uuid
    return entries[: draw(st.integers(2, 4))]


cleared_roots: st.SearchStrategy[Json] = st.builds(
    lambda hook, place, parent: {
        "type": "attachment" if place == "attachment" else "progress",
        place: {"type": "hook_success", "hookName": hook},
        **parent,
    },
    st.sampled_from(["SessionStart:clear", "SessionStart:clear", "SessionStart:startup"]),
    st.sampled_from(["data", "data", "attachment"]),
    st.sampled_from(
        [{"parentUuid": None}, {"parentUuid": None}, {}, {"parentUuid": None, "isSidechain": True}]
    ),
)


@st.composite
def scenes(draw: Draw, number: int) -> list[Json]:
    """Some entries that belong together; `number` makes their ids differ from those of other scenes."""
    others = [agent_work(number), agent_work(number), sidechains(number), spawns(number), streamed(number)]
    others += [
        human_results(number),
        human_results(number),
        parallel_calls(number),
        notifications(),
        plans_gone_on_with(),
        cleared_roots.map(alone),
    ]
    return draw(draw(st.sampled_from([*SCENES, *others])))
