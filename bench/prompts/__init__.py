"""A bench of recorded moments: the same acts are asked again of a real model, whatever version writes the prompts.

A moment is a place in a recorded play right before one act. The store is kept, the prompt is not: the product under test
builds it, asks, reads the reply and asks again if it has to, as in any play. `ruler.py` then measures what came, by a
rule that is the bench's own, so that two versions of the product are compared by one ruler. `product.py` is the only
module that touches the product.
"""
