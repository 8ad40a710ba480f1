# The commands of docs/tutorial/6-a-real-model.md.
glasshouse models --models ollama
glasshouse play pier-post --models ollama --turns 2 --run-id r-model
glasshouse why last --run r-model --as director --lines 2
glasshouse play --continue r-model --models ollama --turns 1
