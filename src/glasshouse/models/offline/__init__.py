"""The offline troupe: a seeded player that reads the prompt a model would get and answers from what it heard.

Always holds: the same prompt and seed give the same text, on every machine and under every hash seed; nothing but the
prompt goes into it, so what was not heard cannot be taken up.
"""
