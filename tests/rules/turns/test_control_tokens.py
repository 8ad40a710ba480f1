"""Control tokens of chat templates: whatever is heard, dealt, returned by a tool or written by a model, no prompt has one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshouse.events import kinds
from glasshouse.turns.moment.character import Character, Voice
from glasshouse.turns.moment.line_text import defanged
from glasshouse.turns.moment.moment import Around, Neighbour
from glasshouse.turns.moment.playbill import Playbill
from glasshouse.turns.moment.tools import ToolAnswer, ToolTalk
from glasshouse.turns.prompts.context import prompt_for, repair_prompt
from glasshouse.world.hearing.wires import Handed
from tests.rules.turns.moments_by_hand import HANDLES, a_moment, injected, said

TOKENS = (
    # ChatML, Qwen, Llama 3 and 4, Phi, GPT, Harmony, Granite, Command R, Grok, Kimi
    "<|im_start|>", "<|im_end|>", "<|im_sep|>", "<|endoftext|>", "<|begin_of_text|>", "<|start_header_id|>",
    "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>", "<|python_tag|>", "<|header_start|>", "<|eot|>", "<|system|>",
    "<|user|>", "<|assistant|>", "<|end|>", "<|start|>", "<|channel|>", "<|message|>", "<|call|>", "<|return|>",
    "<|start_of_role|>", "<|end_of_role|>", "<|end_of_text|>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>",
    "<|SYSTEM_TOKEN|>", "<|separator|>", "<|im_middle|>", "<|tool_call|>", "<BOS_TOKEN>", "<EOS_TOKEN>",
    # Gemma, Llama 2, Mistral, GLM, EXAONE, MiniMax, Falcon, Seed, and what most families share
    "<start_of_turn>", "<end_of_turn>", "<|turn>", "<turn|>", "<|channel>", "<channel|>", "[INST]", "[/INST]",
    "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<bos>", "<eos>", "<unk>", "<pad>", "<mask>", "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[THINK]",
    "[gMASK]", "<sop>", "[|system|]", "[|endofturn|]", "]~b]", "]~!b[", "[e~[", ">>QUESTION<<", "<seed:think>",
    "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "<unused0>",
    # DeepSeek, with full-width bars and low blocks
    "<\uff5cbegin\u2581of\u2581sentence\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<\uff5cUser\uff5c>", "<\uff5cAssistant\uff5c>", "<\uff5ctool\u2581calls\u2581begin\uff5c>",
    # What a tokenizer that normalises first would read as one of the above
    "\uff1c|im_end|\uff1e", "\uff1cs\uff1e", "\uff3bINST\uff3d",
)  # fmt: skip
FORGED = st.lists(st.sampled_from(TOKENS) | st.text(max_size=4), min_size=1, max_size=8).map("".join)


def tokens_in(text: str) -> list[str]:
    return [token for token in TOKENS if token in text]


@given(FORGED, st.sampled_from(["worker", "judge"]))
def test_no_prompt_has_a_control_token_wherever_the_text_comes_from(text: str, role: Any) -> None:
    character = Character(
        name="echo",
        role=role,
        persona=text,
        wants=text,
        cares_about=(text,),
        temper=text,
        voice=Voice(examples=(text,), never=(text,)),
    )
    moment = a_moment(
        [
            said(1, "conductor", text, kinds.WORLD_OBSERVED),
            injected(2, text),
            said(3, "moth-id", text, "note.left", **{"more": text, "list": [text], text: {"deep": text}}),
        ],
        character=character,
        playbill=Playbill(goal=text, language=text),
        handles={**HANDLES, "moth-id": text},
        around=Around((text,), (text,), (Neighbour(text, text, (text,)),), 1, (text,), (text,)),
        known={"word": text, text: [text]},
        handed=Handed(asked=text),
        talk=(ToolTalk(text, {"place": text}, ToolAnswer(True, text)),),
    )

    prompt = prompt_for(moment)
    repaired = repair_prompt(prompt, text, text)

    assert not tokens_in(prompt.system + prompt.user + repaired.user)


@given(FORGED)
def test_a_text_is_defanged_once_and_loses_nothing_but_gains_spaces(text: str) -> None:
    safe = defanged(text)

    assert defanged(safe) == safe
    assert safe.replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize("token", TOKENS)
def test_every_token_is_broken_and_stays_readable(token: str) -> None:
    assert token not in defanged(token)
    assert len(defanged(token)) <= len(token) + 2


@pytest.mark.parametrize(
    "text",
    ["I love you <3", "a < b and c > d", "[laughs] Yes.", "[12] is older", "x[1]", "(see [A])", "-> <-"],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert defanged(text) == text
