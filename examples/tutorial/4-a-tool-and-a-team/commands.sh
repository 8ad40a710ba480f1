# The commands of docs/tutorial/4-a-tool-and-a-team.md.
export GLASSHOUSE_ALLOW_WORLD_CODE=1
glasshouse check pier-post
glasshouse play pier-post --rng-seed 5 --run-id r-pier
