"""Models in files of this machine: their headers, where they are found, and llama.cpp as a child process that answers for them."""
