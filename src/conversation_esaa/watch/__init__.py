"""The watcher: captures for all registered workspaces of a user while it runs.

`loop` does the work, `served` is one workspace in it, `places` says which directories matter, `changes` how it
learns of something new; `state` is what others can know of it. `service` makes the system start it.
"""
