"""The agents' real programs: which, where they are installed, how one is configured and spoken to.

pinned.py     which programs and versions, installed from npm once into a cache
running.py    processes that end: each bounded in time, none left behind
agent.py      what all have in common
NAME.py       one program: its configuration, its command line, its hook gates
"""
