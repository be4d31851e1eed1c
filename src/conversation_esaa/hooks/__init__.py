"""Agents that call us: the settings edits that make them, and the program that they call.

One file per agent says where its settings are and which events are of use; `json_edit` and `toml_edit` make the
smallest change in the text; `install` writes, backs up and takes out; `status` tells what is in force.
"""
