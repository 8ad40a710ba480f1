"""Values of one act: the moment that an agent sees, its character, the prompt, the tools and the reply schema."""
