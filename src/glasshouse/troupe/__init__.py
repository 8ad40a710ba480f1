"""The offline troupe: a seeded player that reads the prompt a model would get and answers from what it heard.

Always holds: the same prompt and seed give the same text, on every machine and under every hash seed. Nothing but the
prompt goes into it, so what was not heard cannot be taken up. Of the engine it imports only `turns.moment.prompt` and
`model_values`, so it could be a distribution of its own.
"""
