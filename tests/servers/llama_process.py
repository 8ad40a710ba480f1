"""One llama.cpp server as a program: `python llama_process.py MODEL PORT SLOTS CONTEXT_TOKENS`.

It prints its address when it is up. It ends as soon as its standard input does, so it never outlives whoever started it.
"""

import os
import sys

import xllamacpp  # type: ignore[import-untyped]


def main(model: str, port: str, slots: str, context_tokens: str) -> None:
    settings = xllamacpp.CommonParams()
    settings.model.path = model
    settings.model_alias = {"random"}
    settings.port = int(port)
    settings.n_parallel = int(slots)
    settings.n_ctx = int(context_tokens) * int(slots)
    # One thread adds up in one order: the same seed then gives the same text.
    settings.cpuparams.n_threads = 1
    settings.cpuparams_batch.n_threads = 1
    settings.warmup = False
    settings.verbosity = -1
    settings.endpoint_metrics = True
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # Without the destructors of llama.cpp, which wait for requests under way.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
