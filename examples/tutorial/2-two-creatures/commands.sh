# The commands of docs/tutorial/2-two-creatures.md.
glasshouse check pier-post
glasshouse play pier-post --rng-seed 2
