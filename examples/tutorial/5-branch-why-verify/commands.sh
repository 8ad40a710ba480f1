# The commands of docs/tutorial/5-branch-why-verify.md.
glasshouse why last --run r-pier --lines 2
glasshouse show r-pier --numbers
glasshouse branch r-pier --at 49 --disturb "A seal puts its chin on the counter and asks for one stamp, the cheapest."
glasshouse compare r-pier last
glasshouse replay r-pier --verify
