"""The processes of llama.cpp that this process has started for models in files."""

import psutil


def llama_children() -> list[psutil.Process]:
    """Those that run: for each model the one that watches, then the one that answers."""
    below = psutil.Process().children(recursive=True)
    return [child for child in below if any("llama_program" in word for word in _words(child))]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []
