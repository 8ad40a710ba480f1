"""Replies: from the text of a model to a draft or a tool call."""
