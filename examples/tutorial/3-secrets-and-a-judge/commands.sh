# The commands of docs/tutorial/3-secrets-and-a-judge.md.
glasshouse check pier-post
glasshouse play pier-post --rng-seed 3
glasshouse show last --ledger --as director
