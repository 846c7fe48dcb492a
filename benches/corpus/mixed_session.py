"""A made-up session of everything at once: pictures, results of calls that no line of it makes, and the rest.

The calls of such results, and the subagents that some of them name, stand in a file that the session was
continued from. A reader that looks for subagents has to look into every one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benches.corpus.claude_session import classic_session
from benches.corpus.image_session import with_screenshot
from benches.corpus.vocabulary import PROSE, SHELL, Tape, filled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benches.corpus.claude_lines import Profile
    from benches.corpus.vocabulary import Dice

PICTURE_SHARE = 0.20
"""What of the bytes is base64."""
RESULT_SHARE = 0.45
"""What of the bytes is in lines whose result matches no call."""

_PICTURE = 90_000
"""Bytes of a picture before base64, which makes a third more of it, and twice."""
_RESULT = 40_000
"""Bytes of each of the two copies in a result."""
_NAMES_AGENT = 6
"""Every so manieth result is a subagent's."""


def mixed_session(profile: Profile, dice: Dice, size: float) -> Iterator[bytes]:
    """The lines of a session of about `size` bytes: an ordinary one, and what it lacks between its lines."""
    shell, prose = Tape(filled(dice, SHELL, 6000)), Tape(filled(dice, PROSE, 1500), "\n\n")
    rest_share = 1 - PICTURE_SHARE - RESULT_SHARE
    rest = pictures = results = number = 0
    begun = False
    for line in classic_session(profile, dice, size * rest_share):
        yield line
        rest += len(line)
        # A picture before anybody spoke would have no event to belong to.
        begun = begun or b'"role":"assistant"' in line
        if not begun:
            continue
        # One more as soon as half of it is due.
        while results + _RESULT < rest * (RESULT_SHARE / rest_share):
            number += 1
            stray = _agent_result(dice, prose) if number % _NAMES_AGENT == 0 else _shell_result(dice, shell)
            results += len(stray)
            yield stray
        while pictures + _PICTURE < rest * (PICTURE_SHARE / rest_share):
            shot = with_screenshot(dice, _PICTURE)
            pictures += len(shot)
            yield shot


def _shell_result(dice: Dice, tape: Tape) -> bytes:
    """What a command wrote."""
    output = tape.cut(dice, dice.spread(_RESULT))
    copy = f'{{"stdout":"{output}","stderr":"","interrupted":false,"isImage":false}}'
    return _result(dice, f'"{output}"', copy)


def _agent_result(dice: Dice, tape: Tape) -> bytes:
    """What a subagent reported, which nobody in this file started."""
    agent = "a" + dice.hexadecimal(6)
    steps, tokens, duration = dice.between(3, 40), dice.between(9000, 90_000), dice.between(20_000, 900_000)
    text = f'{{"type":"text","text":"{tape.cut(dice, dice.spread(_RESULT))}"}}'
    note = f"agentId: {agent}\\n<usage>total_tokens: {tokens}\\ntool_uses: {steps}"
    note += f"\\nduration_ms: {duration}</usage>"
    totals = f'"totalDurationMs":{duration},"totalTokens":{tokens},"totalToolUseCount":{steps}'
    copy = f'{{"status":"completed","agentId":"{agent}","content":[{text}],{totals}}}'
    return _result(dice, f'[{text},{{"type":"text","text":"{note}"}}]', copy)


def _result(dice: Dice, content: str, copy: str) -> bytes:
    """The line of a tool's result: once for the model, and once for the program."""
    block = f'{{"tool_use_id":"toolu_01{dice.letters(22)}","type":"tool_result","content":{content}}}'
    return (
        f'{{"parentUuid":"{dice.uuid()}","isSidechain":false,"type":"user",'
        f'"message":{{"role":"user","content":[{block}]}},"uuid":"{dice.uuid()}",'
        f'"timestamp":"2026-02-10T09:00:00.000Z","toolUseResult":{copy}}}\n'
    ).encode()
