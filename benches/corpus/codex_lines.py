"""Lines as Codex writes them into a rollout: an envelope with time and type, and a payload."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from benches.corpus.claude_lines import Ledger

if TYPE_CHECKING:
    from benches.corpus.claude_lines import Profile
    from benches.corpus.vocabulary import Dice


class CodexLines:
    """Whole lines of a rollout. Text that comes in is escaped already; lines gather in `written`."""

    cwd = "/home/robin/projects/lanternfish"
    paginated = False
    """Newer rollouts number their lines, and have `item_completed` where the others have messages."""

    def __init__(self, profile: Profile, dice: Dice) -> None:
        self.dice = dice
        self.ledger = Ledger(profile)
        self.session = dice.uuid()
        self.clock = datetime(2026, 3, 2, 8, 40, 11, tzinfo=timezone.utc)
        self.written: list[bytes] = []

    def now(self) -> str:
        """A timestamp a little after the last one."""
        self.clock += timedelta(milliseconds=self.dice.between(1, 2500))
        return self.clock.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def line(self, part: str, kind: str, payload: str) -> None:
        """A line of the part; the payload comes without its braces."""
        ordinal = f',"ordinal":{self.ledger.lines}' if self.paginated else ""
        text = f'{{"timestamp":"{self.now()}"{ordinal},"type":"{kind}","payload":{{{payload}}}}}\n'
        data = text.encode()
        self.written.append(data)
        self.ledger.lines += 1
        self.ledger.total += len(data)
        self.ledger.bytes[part] += len(data)

    def response(self, part: str, payload: str) -> None:
        """What went to the model or came from it."""
        self.line(part, "response_item", payload)

    def event(self, part: str, payload: str) -> None:
        """What was shown."""
        self.line(part, "event_msg", payload)

    def session_meta(self, instructions: str) -> None:
        """The first line."""
        mode = "paginated" if self.paginated else "legacy"
        self.line(
            "state",
            "session_meta",
            f'"id":"{self.session}","session_id":"{self.session}","timestamp":"{self.now()}","cwd":"{self.cwd}",'
            f'"originator":"codex-tui","cli_version":"0.150.0","source":"cli","history_mode":"{mode}",'
            f'"base_instructions":{{"text":"{instructions}"}},"git":{{"branch":"tides"}}',
        )

    def turn_context(self, turn: str) -> None:
        """The settings of a turn."""
        sandbox = '"approval_policy":"on-request","sandbox_policy":{"type":"workspace-write"}'
        self.line(
            "state",
            "turn_context",
            f'"turn_id":"{turn}","cwd":"{self.cwd}",{sandbox},"model":"gpt-5.2-codex","effort":"high"',
        )

    def token_count(self) -> None:
        """How much of the context is used."""
        dice = self.dice
        usage = (
            f'{{"input_tokens":{dice.between(9000, 150_000)},"cached_input_tokens":{dice.between(90, 9000)},'
            f'"output_tokens":{dice.between(9, 4000)},"reasoning_output_tokens":{dice.between(0, 3000)},'
            f'"total_tokens":{dice.between(9000, 160_000)}}}'
        )
        self.event(
            "state",
            f'"type":"token_count","info":{{"total_token_usage":{usage},"last_token_usage":{usage},'
            '"model_context_window":272000},"rate_limits":{"primary":{"used_percent":12.0,"window_minutes":300}}',
        )

    def user_message(self, turn: str, words: str, images: list[str]) -> None:
        """What the human sent: once for the model, once as it was shown, the images in both."""
        pasted = "".join(f',{{"type":"input_image","image_url":"{image}"}}' for image in images)
        content = f'[{{"type":"input_text","text":"{words}"}}{pasted}]'
        part = "images" if images else "state"
        self.response(part, f'"type":"message","role":"user","content":{content}')
        if self.paginated:
            shown = f'[{{"type":"text","text":"{words}"}}'
            shown += "".join(f',{{"type":"image","image_url":"{image}"}}' for image in images) + "]"
            item = f'{{"type":"UserMessage","id":"{self.dice.uuid()}","content":{shown}}}'
            self.item_completed(part, turn, item)
            return
        listed = ",".join(f'"{image}"' for image in images)
        self.event(
            part,
            f'"type":"user_message","message":"{words}","images":[{listed}],"local_images":[],"text_elements":[]',
        )

    def agent_message(self, turn: str, words: str, *, final: bool) -> None:
        """What the model said: once as it was shown, once as it came."""
        phase = "final_answer" if final else "commentary"
        if self.paginated:
            content = f'[{{"type":"Text","text":"{words}"}}]'
            item = (
                f'{{"type":"AgentMessage","id":"{self.dice.uuid()}","content":{content},"phase":"{phase}"}}'
            )
            self.item_completed("state", turn, item)
        else:
            self.event("state", f'"type":"agent_message","message":"{words}","phase":"{phase}"')
        content = f'[{{"type":"output_text","text":"{words}"}}]'
        self.response("state", f'"type":"message","role":"assistant","content":{content},"phase":"{phase}"')

    def item_completed(self, part: str, turn: str, item: str) -> None:
        """An item of a paginated rollout."""
        ids = f'"thread_id":"{self.session}","turn_id":"{turn}"'
        self.event(part, f'"type":"item_completed",{ids},"item":{item}')

    def call(self, name: str, arguments: dict[str, object]) -> str:
        """A call of a function, whose arguments are a string of JSON; returns its id."""
        call = "call_" + self.dice.letters(24)
        text = json.dumps(json.dumps(arguments, separators=(",", ":")))
        self.response("call", f'"type":"function_call","name":"{name}","arguments":{text},"call_id":"{call}"')
        return call
