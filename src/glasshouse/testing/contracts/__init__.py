"""Contract suites: what every store and every model must do, as classes that run under the pytest of whoever writes one.

Always holds: nothing here imports pytest. Each check is an ordinary method, which starts an event loop of its own.
"""
