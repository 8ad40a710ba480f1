"""Looking things up: the passages of documents, and the tool that finds them."""
