"""Acts: one creature thinking once, with its model and its tools."""
