"""The story of a made-up Codex session: everything said stands twice, and pictures are most of the bytes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from benches.corpus.claude_session import Tapes
from benches.corpus.codex_lines import CodexLines
from benches.corpus.image_session import screenshot
from benches.corpus.vocabulary import NOUNS, VERBS, path_in_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benches.corpus.claude_lines import Profile
    from benches.corpus.vocabulary import Dice

_COMPACTED_FROM = 60_000_000
_COMPACTED_SIZE = 50_000_000
_REMEMBERED = 24


class CodexSession(CodexLines):
    """Turns of a human's message, steps with their tools, and a last answer."""

    def __init__(self, profile: Profile, dice: Dice) -> None:
        super().__init__(profile, dice)
        tapes = Tapes.drawn(dice)
        self.code, self.shell, self.prose, self.requests = (
            tapes.code,
            tapes.shell,
            tapes.prose,
            tapes.requests,
        )
        self.cipher = dice.letters(60_000)
        self.share_of_images = profile.shares["images"]
        self.pictures: list[str] = []
        """The latest pictures, as data URIs."""
        self.turns = 0
        self.compacted = False

    def words(self, weight: float) -> str:
        """A stretch of prose that somebody says."""
        span = self.prose.span(self.dice, self.ledger.size("signal", self.dice, weight))
        self.ledger.bytes["signal"] += self.prose.plain_bytes(span)
        return self.prose.text(span)

    def asked(self) -> str:
        """What the human wants."""
        span = self.requests.span(self.dice, self.ledger.size("signal", self.dice, 0.5))
        self.ledger.bytes["signal"] += self.requests.plain_bytes(span)
        return self.requests.text(span)

    def has_room(self) -> bool:
        """Whether the pictures are behind their share."""
        rest = self.ledger.total - self.ledger.bytes["compacted"]
        return self.share_of_images * rest > self.ledger.bytes["images"]

    def picture(self) -> str:
        """A new picture."""
        data = base64.b64encode(screenshot(self.dice)).decode()
        self.pictures = [*self.pictures, f"data:image/png;base64,{data}"][-_REMEMBERED:]
        return self.pictures[-1]

    def open(self) -> None:
        """What stands before the first turn; the texts in the human's name are not the human's."""
        self.session_meta(self.prose.cut(self.dice, 15_000))
        skills = f'"skills":"{self.prose.cut(self.dice, 4000)}"'
        self.line("state", "world_state", f'"agents_md":"{self.prose.cut(self.dice, 3000)}",{skills}')
        rules = f"<permissions instructions>{self.prose.cut(self.dice, 3000)}</permissions instructions>"
        self._injected("developer", rules)
        notes = f"<INSTRUCTIONS>\\n{self.prose.cut(self.dice, 4000)}\\n</INSTRUCTIONS>"
        self._injected("user", f"# AGENTS.md instructions for {self.cwd}\\n\\n{notes}")
        here = f"  <cwd>{self.cwd}</cwd>\\n  <shell>bash</shell>"
        self._injected("user", f"<environment_context>\\n{here}\\n</environment_context>")

    def _injected(self, role: str, text: str) -> None:
        content = f'[{{"type":"input_text","text":"{text}"}}]'
        self.response("state", f'"type":"message","role":"{role}","content":{content}')

    def turn(self) -> None:
        """From the human's message to the end of the turn."""
        self.turns += 1
        turn = self.dice.uuid()
        self.event("state", f'"type":"task_started","turn_id":"{turn}","model_context_window":272000')
        self.turn_context(turn)
        images = [self.picture()] if self.has_room() and self.turns % 2 else []
        self.user_message(turn, self.asked(), images)
        for _ in range(self.dice.between(4, 14)):
            self.step(turn)
        last = self.words(1.5)
        self.agent_message(turn, last, final=True)
        self.token_count()
        duration = self.dice.between(9000, 900_000)
        done = f'"turn_id":"{turn}","last_agent_message":"{last}","duration_ms":{duration}'
        self.event("state", f'"type":"task_complete",{done}')

    def step(self, turn: str) -> None:
        """The model thinks, perhaps says what it is going to do, and calls a tool."""
        dice = self.dice
        size = self.ledger.size("reasoning", dice)
        first = dice.below(len(self.cipher) - size)
        secret = f"gAAAAA{self.cipher[first : first + size]}"
        self.response(
            "reasoning", f'"type":"reasoning","summary":[],"content":null,"encrypted_content":"{secret}"'
        )
        if dice.chance(0.35):
            self.agent_message(turn, self.words(1.0), final=False)
        if self.has_room() and dice.chance(0.5):
            self._look()
        elif dice.chance(0.3):
            self._patch(turn)
        else:
            self._run()
        self.token_count()
        if dice.chance(0.5):
            self.turn_context(turn)

    def _run(self) -> None:
        words = f"{self.dice.pick(VERBS)} the {self.dice.pick(NOUNS)}"
        call = self.call("exec_command", {"cmd": f'rg "{words}" | head -40', "workdir": self.cwd})
        output = self.shell.cut(self.dice, self.ledger.size("output", self.dice))
        header = f"Chunk ID: {self.dice.hexadecimal(6)}\\nProcess exited with code 0\\nOutput:\\n"
        self.response(
            "output", f'"type":"function_call_output","call_id":"{call}","output":"{header}{output}"'
        )

    def _patch(self, turn: str) -> None:
        path = path_in_project(self.dice)
        patch = self.code.cut(self.dice, self.ledger.size("call", self.dice, 3))
        call = "call_" + self.dice.letters(24)
        text = f"*** Begin Patch\\n*** Update File: {path}\\n@@\\n{patch}\\n*** End Patch"
        named = f'"call_id":"{call}","name":"apply_patch"'
        self.response("call", f'"type":"custom_tool_call","status":"completed",{named},"input":"{text}"')
        done = f"Success. Updated the following files:\\nM {path}"
        if not self.paginated:
            changes = f'{{"{path}":{{"type":"update","unified_diff":"{patch}"}}}}'
            ids = f'"call_id":"{call}","turn_id":"{turn}"'
            self.event("call", f'"type":"patch_apply_end",{ids},"stdout":"{done}","changes":{changes}')
        self.response("call", f'"type":"custom_tool_call_output","call_id":"{call}","output":"{done}"')

    def _look(self) -> None:
        call = self.call("view_image", {"path": f"{self.cwd}/shots/{self.dice.pick(NOUNS)}.png"})
        image = f'[{{"type":"input_image","image_url":"{self.picture()}"}}]'
        self.response("images", f'"type":"function_call_output","call_id":"{call}","output":{image}')

    def compact(self) -> None:
        """All that came before in one line, every picture once more and many of them often."""
        self.compacted = True
        items: list[str] = []
        size = 0
        while size < _COMPACTED_SIZE:
            content = f'[{{"type":"input_text","text":"{self.requests.cut(self.dice, 400)}"}}'
            if self.pictures:
                content += f',{{"type":"input_image","image_url":"{self.dice.pick(self.pictures)}"}}'
            items.append(f'{{"type":"message","role":"user","content":{content}]}}')
            size += len(items[-1])
        history = ",".join(items)
        self.line(
            "compacted", "compacted", f'"message":"","replacement_history":[{history}],"window_number":2'
        )
        self.event("state", '"type":"context_compacted"')


class PaginatedSession(CodexSession):
    """The same as newer builds write it."""

    paginated = True


def codex_session(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    """The lines of a rollout of at least `size` bytes; a long one was compacted halfway."""
    return _lines(CodexSession(profile, dice), size)


def paginated_session(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    """The same, in the newer form."""
    return _lines(PaginatedSession(profile, dice), size)


def _lines(session: CodexSession, size: float) -> Iterator[bytes]:
    session.open()
    while session.ledger.total < size:
        session.turn()
        compacts = size >= _COMPACTED_FROM and session.ledger.total * 2 >= size - _COMPACTED_SIZE
        if compacts and not session.compacted:
            session.compact()
        yield from session.written
        session.written.clear()
