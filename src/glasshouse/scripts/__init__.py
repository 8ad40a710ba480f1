"""Scripts: what the offline troupe says in a world, each line with the cue on which it is said. A script is a text beside its world.

Always holds: nothing here reads a file or knows a world. The troupe plays what `script_of` makes of a text; whoever checks a world reads
the same text with `read_script`.
"""
