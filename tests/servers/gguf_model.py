"""Writes a model file for llama.cpp: random weights, 64 wide, 2 layers, 0.4 MB.

The weights are random, but how likely each token is on average is set: mostly small letters, pairs of letters and
spaces, strings that end, answers that end. So a grammar is filled out within some 60 tokens. With the vocabulary
`bytes` the model also writes bytes that are no valid UTF-8, and llama.cpp answers about a third of the calls that
carry a schema with HTTP 500.
"""

from pathlib import Path
from typing import Literal

import numpy as np
from gguf import GGUFWriter, TokenType
from numpy.typing import NDArray

Vocabulary = Literal["ascii", "bytes"]

WIDTH = 64
FEED_FORWARD = 128
LAYERS = 2
HEAD = 16  # one small head of attention: prompts of 3,000 tokens are read three times as fast as with four
TRAINED_CONTEXT_TOKENS = 32_768

END = "<|im_end|>"
CONTROL = ["<|endoftext|>", "<|im_start|>", END, "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"]
CONTROL += ["<start_of_turn>", "<end_of_turn>", "[INST]", "[/INST]", "<think>", "</think>"]
CONTROL += ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>"]
SPACE, NEWLINE = "Ġ", "Ċ"  # as the tokenizer of GPT-2 writes them
PAIRS = "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri "
PAIRS += "ro ic ne ea ra ce"

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)

# Every embedding holds this number in its first place, so that the first weight of an output row works as a bias.
CONSTANT = 8.0
CONSTANT_AT_THE_OUTPUT = 5.7  # about what is left of it after the normalization


def write_model(path: Path, vocabulary: Vocabulary, *, seed: int = 1) -> None:
    """Write the model file; the same seed writes the same bytes."""
    letters, pairs = _letters_and_pairs(vocabulary)
    tokens = [*CONTROL, *letters, *pairs]
    file = GGUFWriter(path, "llama")
    _describe(file, len(tokens))
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_token_list(tokens)
    file.add_token_types(
        [TokenType.CONTROL] * len(CONTROL) + [TokenType.NORMAL] * (len(letters) + len(pairs))
    )
    # llama.cpp refuses a vocabulary without merges; this one never applies, since its result is no token.
    file.add_token_merges([f"{pair[0]} {pair[1]}" for pair in pairs] or ["Z Z"])
    file.add_eos_token_id(tokens.index(END))
    file.add_add_bos_token(False)
    file.add_chat_template(CHAT_TEMPLATE)
    for name, weights in _weights(tokens, np.random.default_rng(seed)).items():
        file.add_tensor(name, weights)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def _letters_and_pairs(vocabulary: Vocabulary) -> tuple[list[str], list[str]]:
    printable = [chr(code) for code in range(ord("!"), ord("~") + 1)]
    if vocabulary == "ascii":
        after_space = [SPACE + letter for letter in "tasiwhobcmdfply"]
        return [*printable, SPACE, NEWLINE], [*after_space, *PAIRS.split()]
    # GPT-2 writes printable bytes as themselves and numbers the others from 256 on.
    bytes_as_themselves = [*range(33, 127), *range(161, 173), *range(174, 256)]
    numbered = range(256, 256 + 256 - len(bytes_as_themselves))
    return [chr(code) for code in [*bytes_as_themselves, *numbered]], []


def _describe(file: GGUFWriter, token_count: int) -> None:
    file.add_name("random")
    file.add_vocab_size(token_count)
    file.add_context_length(TRAINED_CONTEXT_TOKENS)
    file.add_embedding_length(WIDTH)
    file.add_block_count(LAYERS)
    file.add_feed_forward_length(FEED_FORWARD)
    file.add_head_count(1)
    file.add_head_count_kv(1)
    file.add_rope_dimension_count(HEAD)
    file.add_key_length(HEAD)
    file.add_value_length(HEAD)
    file.add_layer_norm_rms_eps(1e-5)


def _weights(tokens: list[str], random: np.random.Generator) -> dict[str, NDArray[np.float32]]:
    def drawn(*shape: int, scale: float) -> NDArray[np.float32]:
        return (random.standard_normal(shape) * scale).astype(np.float32)

    ones = np.ones(WIDTH, np.float32)
    embeddings = drawn(len(tokens), WIDTH, scale=1.0)
    embeddings[:, 0] = CONSTANT
    output = drawn(len(tokens), WIDTH, scale=0.1)
    output[:, 0] = [_liking(token) / CONSTANT_AT_THE_OUTPUT for token in tokens]
    weights = {"token_embd.weight": embeddings, "output.weight": output, "output_norm.weight": ones}
    for layer in range(LAYERS):
        weights |= {f"blk.{layer}.{name}_norm.weight": ones for name in ("attn", "ffn")}
        for name in ("attn_q", "attn_k", "attn_v"):
            weights[f"blk.{layer}.{name}.weight"] = drawn(HEAD, WIDTH, scale=0.1)
        weights[f"blk.{layer}.attn_output.weight"] = drawn(WIDTH, HEAD, scale=0.1)
        for name in ("ffn_gate", "ffn_up"):
            weights[f"blk.{layer}.{name}.weight"] = drawn(FEED_FORWARD, WIDTH, scale=0.1)
        weights[f"blk.{layer}.ffn_down.weight"] = drawn(WIDTH, FEED_FORWARD, scale=0.1)
    return weights


def _liking(token: str) -> float:
    """How much likelier a token is than others, in logits."""
    if token == END:
        return 0.3
    if token in CONTROL:
        return -30.0
    if token == '"':
        return 1.2
    if token[0] == SPACE:
        return 1.5 if token == SPACE else 0.7
    if token.isascii():
        return 0.5 if token.islower() else -1.0 if token in ",.!?'" else -2.5
    return -3.0 if token == NEWLINE else -1.1
