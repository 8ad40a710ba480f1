# The commands of docs/tutorial/1-play-and-disturb.md.
glasshouse play twenty-sprouts --rng-seed 3 --turns 4
glasshouse disturb last "Hail breaks one pane, and a paper boat comes in through the hole."
glasshouse play --continue last --turns 2
glasshouse play --continue last
