"""Agents that call us: the settings edits that make them, the program that they call, and what that starts.

One file per agent says where its settings are and which events are of use; `json_edit` and `toml_edit` make the
smallest change in the text; `install` writes, backs up and takes out; `status` tells what is in force.

entry    stands alone: takes one call of an agent to the spool, and is gone; `call` beside it does the work
worker   takes what is in the spool into the log, and is gone too

docs/explanation/hooks.md tells the whole way.
"""
