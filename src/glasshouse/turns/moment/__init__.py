"""Values of one act: the moment an agent sees, its character, the prompt, the tools, the form of the reply."""
