"""The story of a made-up Claude Code session: turns, answers, tool calls, and the noise around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benches.corpus.claude_lines import ClaudeLines
from benches.corpus.vocabulary import (
    CODE,
    NOUNS,
    PROSE,
    REQUESTS,
    SHELL,
    VERBS,
    Dice,
    Tape,
    filled,
    path_in_project,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benches.corpus.claude_lines import Profile


@dataclass(frozen=True)
class Tapes:
    """What a session is cut from; many small ones may share them, for drawing takes longer than writing."""

    code: Tape
    shell: Tape
    prose: Tape
    requests: Tape
    signature: str

    @classmethod
    def drawn(cls, dice: Dice) -> Tapes:
        """New ones, by chance."""
        return cls(
            Tape(filled(dice, CODE, 9000)),
            Tape(filled(dice, SHELL, 6000)),
            Tape(filled(dice, PROSE, 3000), "\n\n"),
            Tape(filled(dice, REQUESTS, 800), " "),
            dice.letters(1200),
        )


@dataclass(frozen=True)
class Call:
    """A tool call, and what its result repeats of the input."""

    tool: str
    id: str
    uuid: str
    repeated: str


@dataclass(frozen=True)
class Tool:
    """How often a tool is called, and how many hook lines stand before and after its result."""

    weight: int
    before: int
    after: int


_TOOLS: Mapping[str, Tool] = {
    "Bash": Tool(40, 4, 2),
    "Edit": Tool(22, 2, 7),
    "Read": Tool(20, 0, 2),
    "Write": Tool(7, 2, 7),
    "Grep": Tool(5, 0, 2),
    "Glob": Tool(4, 0, 2),
    "TaskOutput": Tool(1, 0, 1),
    "Task": Tool(0, 0, 1),  # placed by `turn`, so that short files have some
    "Agent": Tool(0, 0, 1),  # what later versions call it
}
_DECK = [name for name, tool in _TOOLS.items() for _ in range(tool.weight)]
# Coprime to the 100 cards of the deck: stepping by it deals every card once before any comes again.
_STEP = 37
_CONTINUED = "This session is being continued from a previous conversation that ran out of context."


class ClaudeSession(ClaudeLines):
    """The story of a session: turns, answers, tool calls with their noise.

    What is rare stands at fixed turns instead of being drawn, so that short files have all of it.
    """

    agent_tool = "Task"
    most_answers = 26
    """In one turn."""
    agent_every = 5
    """So many turns, from the second on, have a call of a subagent."""

    def __init__(self, profile: Profile, dice: Dice, tapes: Tapes | None = None) -> None:
        super().__init__(profile, dice)
        tapes = tapes or Tapes.drawn(dice)
        self.code, self.shell, self.prose = tapes.code, tapes.shell, tapes.prose
        self.requests, self.signature = tapes.requests, tapes.signature
        self.agents: list[tuple[str, str]] = []
        """The subagents that were called: id, and the prompt as JSON writes it."""
        self.turns = 0
        self.dealt = 0
        self.commands = 0

    def stretch(self, part: str, tape: Tape, weight: float = 1.0) -> str:
        """A stretch of the tape, of a size that suits the part."""
        return tape.cut(self.dice, self.ledger.size(part, self.dice, weight))

    def words(self, tape: Tape, weight: float) -> str:
        """A stretch that somebody says or thinks."""
        span = tape.span(self.dice, self.ledger.size("signal", self.dice, weight))
        self.ledger.bytes["signal"] += tape.plain_bytes(span)
        return tape.text(span)

    def message(self) -> tuple[str, str]:
        """Ids of a new message and its request."""
        return "msg_01" + self.dice.letters(22), "req_011C" + self.dice.letters(20)

    # Tool calls: the input, and what of it the result repeats

    def call(self, name: str, message: tuple[str, str]) -> Call:
        """Write a `tool_use` line."""
        arguments, repeated = getattr(self, f"_call_{name.lower()}")()
        tool_use = "toolu_01" + self.dice.letters(22)
        uuid = self.assistant(
            message,
            f'{{"type":"tool_use","id":"{tool_use}","name":"{name}","input":{{{arguments}}},'
            '"caller":{"type":"direct"}}',
        )
        return Call(name, tool_use, uuid, repeated)

    def _file(self) -> str:
        return f"{self.cwd}/{self.dice.pick(self.files)}"

    def _call_bash(self) -> tuple[str, str]:
        words = f"{self.dice.pick(VERBS)} the {self.dice.pick(NOUNS)}"
        target = self.dice.pick(NOUNS)
        return f'"command":"make {target} 2>&1 | grep -v \\"{words}\\"","description":"Please {words}"', ""

    def _call_edit(self) -> tuple[str, str]:
        path, old, new = (
            self._file(),
            self.stretch("assistant", self.code),
            self.stretch("assistant", self.code),
        )
        arguments = f'"replace_all":false,"file_path":"{path}","old_string":"{old}","new_string":"{new}"'
        return arguments, f'"filePath":"{path}","oldString":"{old}","newString":"{new}"'

    def _call_write(self) -> tuple[str, str]:
        file = f'"{self._file()}","content":"{self.stretch("assistant", self.code, 6)}"'
        return f'"file_path":{file}', f'"filePath":{file}'

    def _call_read(self) -> tuple[str, str]:
        path = self._file()
        return f'"file_path":"{path}"', path

    def _call_grep(self) -> tuple[str, str]:
        return f'"pattern":"{self.dice.pick(NOUNS)}\\\\.\\\\w+","output_mode":"content"', ""

    def _call_glob(self) -> tuple[str, str]:
        return f'"pattern":"**/*{self.dice.pick(NOUNS)}*"', ""

    def _call_taskoutput(self) -> tuple[str, str]:
        task = "b" + self.dice.hexadecimal(6)
        return f'"task_id":"{task}","block":true,"timeout":30000', task

    def _call_agent(self) -> tuple[str, str]:
        return self._call_task()

    def _call_task(self) -> tuple[str, str]:
        prompt = self.requests.cut(self.dice, 600)
        description = f"Look at the {self.dice.pick(NOUNS)}"
        return f'"description":"{description}","prompt":"{prompt}","subagent_type":"Explore"', prompt

    # Tool results: content for the model, copy for the program

    def result(self, call: Call) -> None:
        """What follows a call: hooks, progress, the result in its two copies, more hooks."""
        tool = _TOOLS[call.tool]
        self.hooks("PreToolUse", call.tool, call.id, tool.before)
        if call.tool != self.agent_tool and self.dice.chance(0.04):
            error = self.stretch("mirrored", self.shell, 0.3)
            block = f'"type":"tool_result","content":"Exit code 1\\n{error}","is_error":true'
            self.tool_result(
                f'{{{block},"tool_use_id":"{call.id}"}}', f'"Error: Exit code 1\\n{error}"', call.uuid
            )
            self.hooks("PostToolUseFailure", call.tool, call.id, tool.after)
            return
        content, copy = getattr(self, f"_result_{call.tool.lower()}")(call)
        fine = ',"is_error":false' if call.tool == "Bash" else ""
        block = f'{{"tool_use_id":"{call.id}","type":"tool_result","content":{content}{fine}}}'
        self.tool_result(block, copy, call.uuid)
        self.hooks("PostToolUse", call.tool, call.id, tool.after)

    def _result_bash(self, call: Call) -> tuple[str, str]:
        self.commands += 1
        if self.commands % 4 == 0:
            self._bash_progress(call)
        output = "" if self.dice.chance(0.1) else self.stretch("mirrored", self.shell)
        flags = '"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false'
        return f'"{output}"', f'{{"stdout":"{output}",{flags}}}'

    def _bash_progress(self, call: Call) -> None:
        first, last = self.shell.span(self.dice, self.ledger.size("progress", self.dice))
        steps = self.dice.between(6, 18)
        for step in range(1, steps + 1):
            # The output grows, and every line repeats all of it: most of the bytes of progress are this.
            end = first + max(1, (last - first) * step // steps)
            recent, full = self.shell.text((max(first, end - 5), end)), self.shell.text((first, end))
            data = (
                f'{{"type":"bash_progress","output":"{recent}","fullOutput":"{full}",'
                f'"elapsedTimeSeconds":{step + 2},"totalLines":{end - first},"timeoutMs":120000}}'
            )
            self.progress(data, f"bash-progress-{step - 1}", call.id)

    def _result_read(self, call: Call) -> tuple[str, str]:
        first, last = self.code.span(self.dice, self.ledger.size("mirrored", self.dice, 1.6))
        numbered = [f"{number:6}→{line}" for number, line in enumerate(self.code.lines[first:last], 1)]
        if self.dice.chance(0.3):
            numbered += ["", "<system-reminder>", "This is shown in part only.", "</system-reminder>"]
        content = "\\n".join(numbered)
        counts = f'"numLines":{last - first},"startLine":1,"totalLines":{last - first}'
        file = f'{{"filePath":"{call.repeated}","content":"{self.code.text((first, last))}",{counts}}}'
        return f'"{content}"', f'{{"type":"text","file":{file}}}'

    def _result_edit(self, call: Call) -> tuple[str, str]:
        original = self.stretch("toolUseResult", self.code)
        first, last = self.code.span(self.dice, 900)
        patch = '","'.join([f"{' -+'[row % 3]}{self.code.lines[row]}" for row in range(first, last)])
        old_and_new = (
            f'"oldStart":{first},"oldLines":{last - first},"newStart":{first},"newLines":{last - first}'
        )
        copy = (
            f'{{{call.repeated},"originalFile":"{original}","structuredPatch":[{{{old_and_new},'
            f'"lines":["{patch}"]}}],"userModified":false,"replaceAll":false}}'
        )
        return '"The file has been updated successfully."', copy

    def _result_write(self, call: Call) -> tuple[str, str]:
        copy = f'{{"type":"create",{call.repeated},"structuredPatch":[],"originalFile":null}}'
        return '"File created successfully."', copy

    def _result_glob(self, _call: Call) -> tuple[str, str]:
        names = [f"{self.cwd}/{path_in_project(self.dice)}" for _ in range(self.dice.between(1, 90))]
        counts = f'"durationMs":{self.dice.between(3, 90)},"numFiles":{len(names)},"truncated":false'
        content, listed = "\\n".join(names), '","'.join(names)
        return f'"{content}"', f'{{"filenames":["{listed}"],{counts}}}'

    def _result_grep(self, _call: Call) -> tuple[str, str]:
        span = self.code.span(self.dice, self.ledger.size("mirrored", self.dice, 0.3))
        found = f'"{self.code.text(span)}"'
        files = '"mode":"content","numFiles":0,"filenames":[]'
        return found, f'{{{files},"content":{found},"numLines":{span[1] - span[0]}}}'

    def _result_taskoutput(self, call: Call) -> tuple[str, str]:
        output = self.stretch("mirrored", self.shell, 2)
        header = f"<task_id>{call.repeated}</task_id>\\n\\n<status>completed</status>\\n\\n<output>\\n"
        task = f'"task_id":"{call.repeated}","task_type":"local_bash","status":"completed"'
        copy = f'{{{task},"description":"Run the tests","output":"{output}","exitCode":0}}'
        return f'"{header}{output}\\n</output>"', f'{{"retrieval_status":"success","task":{copy}}}'

    def _result_agent(self, call: Call) -> tuple[str, str]:
        return self._result_task(call)

    def _result_task(self, call: Call) -> tuple[str, str]:
        dice, agent = self.dice, "a" + self.dice.hexadecimal(6)
        steps, tokens = dice.between(3, 12), dice.between(9000, 90000)
        duration = dice.between(20000, 200000)
        self.agents.append((agent, call.repeated))
        self._agent_progress(call, agent, f'"type":"text","text":"{call.repeated}"')
        for _ in range(steps):
            self._agent_step(call, agent)
        text = f'{{"type":"text","text":"{self.stretch("mirrored", self.prose)}"}}'
        note = f"agentId: {agent} (for resuming to continue this agent's work if needed)\\n<usage>"
        note += f"total_tokens: {tokens}\\ntool_uses: {steps}\\nduration_ms: {duration}</usage>"
        usage = '{"input_tokens":4,"cache_creation_input_tokens":812,"output_tokens":640}'
        copy = (
            f'{{"status":"completed","prompt":"{call.repeated}","agentId":"{agent}","content":[{text}],'
            f'"totalDurationMs":{duration},"totalTokens":{tokens},"totalToolUseCount":{steps},"usage":{usage}}}'
        )
        return f'[{text},{{"type":"text","text":"{note}"}}]', copy

    def _agent_step(self, call: Call, agent: str) -> None:
        """A subagent's own tool call and its result, each nested in a progress line of the main file."""
        message, request = self.message()
        tool_use = "toolu_01" + self.dice.letters(22)
        asked = f'"type":"tool_use","id":"{tool_use}","name":"Read","input":{{"file_path":"{self._file()}"}}'
        usage = '{"input_tokens":3,"output_tokens":2,"service_tier":"standard"},"context_management":null'
        self._agent_data(
            call,
            agent,
            f'"type":"assistant","timestamp":"{self.now()}","message":{{"model":"claude-haiku","id":"{message}",'
            f'"type":"message","role":"assistant","content":[{{{asked}}}],"stop_reason":null,'
            f'"stop_sequence":null,"usage":{usage}}},"requestId":"{request}","uuid":"{self.dice.uuid()}"',
        )
        found = self.stretch("progress", self.code)
        block = f'"tool_use_id":"{tool_use}","type":"tool_result","content":"{found}"'
        self._agent_progress(call, agent, block)

    def _agent_progress(self, call: Call, agent: str, block: str) -> None:
        self._agent_data(
            call,
            agent,
            f'"type":"user","message":{{"role":"user","content":[{{{block}}}]}},'
            f'"uuid":"{self.dice.uuid()}","timestamp":"{self.now()}"',
        )

    def _agent_data(self, call: Call, agent: str, entry: str) -> None:
        data = (
            f'{{"message":{{{entry}}},"normalizedMessages":[],"type":"agent_progress",'
            f'"prompt":"{call.repeated}","agentId":"{agent}"}}'
        )
        self.progress(data, f"agent_msg_01{self.dice.letters(22)}", call.id)

    # Turns

    def open(self) -> None:
        """What stands before the first turn."""
        self.snapshot(update=False)
        self.hooks("SessionStart", "startup", self.dice.uuid(), 2)
        self.slug = ',"slug":"quiet-drifting-lantern"'

    def answer(self, name: str | None = None) -> None:
        """One answer: thinking and text now and then, then one call, or a few in parallel."""
        dice, message = self.dice, self.message()
        if dice.chance(0.12):
            self.think(message)
        if dice.chance(0.5):
            self.say(message, 1.0)
        name = name or self.deal()
        parallel = name in {"Read", "Grep", "Glob"} and dice.chance(0.15)
        calls = [self.call(name, message) for _ in range(dice.between(2, 3) if parallel else 1)]
        for call in calls:
            self.result(call)
        if dice.chance(0.15):
            self.snapshot(update=True)

    def deal(self) -> str:
        """The next tool. Dealt, not drawn: a short file has the same mix of tools as a long one."""
        self.dealt += 1
        return _DECK[self.dealt * _STEP % len(_DECK)]

    def think(self, message: tuple[str, str]) -> None:
        """A `thinking` block."""
        signature = self.signature[: self.dice.between(300, 1200)]
        thinking = f'"thinking":"{self.words(self.prose, 1.4)}","signature":"{signature}"'
        self.assistant(message, f'{{"type":"thinking",{thinking}}}')

    def say(self, message: tuple[str, str], weight: float) -> None:
        """A `text` block."""
        self.assistant(message, f'{{"type":"text","text":"{self.words(self.prose, weight)}"}}')

    def turn(self) -> None:
        """From the human's message to the turn's duration."""
        self.turns += 1
        self.snapshot(update=False)
        self.ask()
        calls_agent = self.turns % self.agent_every == 2 % self.agent_every
        for number in range(self.dice.between(4, self.most_answers)):
            self.answer(self.agent_tool if number == 1 and calls_agent else None)
            if number == 2 and self.turns % 7 == 3:
                self.interject(self.words(self.requests, 0.3))
        self.finish()
        if self.turns % 12 == 0:
            self.compact()

    def interject(self, words: str) -> None:
        """Typed while the model works and taken up in the middle of the turn: the only copy is here."""
        self.queue("enqueue", words)
        self.answer()
        self.queue("remove")

    def ask(self) -> None:
        """The human's message: typed ahead and taken from the queue, as a slash command, or plain."""
        words = self.words(self.requests, 0.5)
        if self.turns % 9 == 4:
            self.queue("enqueue", words)
            self.queue("dequeue")
            self.human(words)
        elif self.turns % 11 == 6:
            name = "<command-message>review</command-message>\\n<command-name>/review</command-name>"
            self.user(f'"{name}\\n<command-args>{words}</command-args>"')
            body = f'[{{"type":"text","text":"{self.prose.cut(self.dice, 3000)}"}}]'
            self.user(body, ',"isMeta":true')
        else:
            self.human(words)

    def finish(self) -> None:
        """The last answer of a turn, or an interruption; a task in the background may end here as well."""
        dice = self.dice
        if self.turns % 10 == 7:
            self.user('[{"type":"text","text":"[Request interrupted by user]"}]')
            return
        if self.turns % 13 == 8:
            self.assistant(self.message(), '{"type":"text","text":"API Error: overloaded"}', "<synthetic>")
        self.say(self.message(), 1.6)
        if self.turns % 8 == 5:
            task = f"<task-id>b{dice.hexadecimal(6)}</task-id>\\n<status>completed</status>"
            summary = '<summary>Background command \\"Run the tests\\" completed (exit code 0)</summary>'
            self.queue("enqueue", f"<task-notification>\\n{task}\\n{summary}\\n</task-notification>")
        hook = dice.uuid()
        self.hooks("Stop", "Stop", hook, 2)
        infos = '"hookCount":2,"hookInfos":[{"command":"stop-0.sh"},{"command":"stop-1.sh"}],"hookErrors":[]'
        flags = '"preventedContinuation":false,"stopReason":"","hasOutput":true,"level":"suggestion"'
        self.system("stop_hook_summary", f"{infos},{flags}", f',"toolUseID":"{hook}"')
        self.system("turn_duration", f'"durationMs":{dice.between(9000, 2_000_000)}', ',"isMeta":false')

    def compact(self) -> None:
        """The context is full, or the human says `/compact`; that command is logged after the summary."""
        manual = self.turns % 24 == 0
        self.compact_boundary("manual" if manual else "auto")
        summary = f'"{_CONTINUED}\\n\\n{self.prose.cut(self.dice, 9000)}"'
        self.user(summary, ',"isVisibleInTranscriptOnly":true,"isCompactSummary":true')
        if manual:
            caveat = '"<local-command-caveat>Caveat: local commands follow.</local-command-caveat>"'
            self.user(caveat, ',"isMeta":true')
            gap = "\\n            "
            name = f"<command-name>/compact</command-name>{gap}<command-message>compact</command-message>"
            self.user(f'"{name}{gap}<command-args></command-args>"')
            self.user('"<local-command-stdout>Compacted</local-command-stdout>"')
        self.hooks("SessionStart", "compact", self.dice.uuid(), 2)

    def lines(self, size: float) -> Iterator[bytes]:
        """The lines of whole turns, one at least, until there are `size` bytes or more."""
        self.open()
        while not self.turns or self.ledger.total < size:
            self.turn()
            yield from self.written
            self.written.clear()


def classic_session(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    """The lines of a Claude Code 2.1.39 session of at least `size` bytes."""
    return ClaudeSession(profile, dice).lines(size)
