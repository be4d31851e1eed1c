"""Hooks: what an agent runs at its own events, and what that starts. docs/explanation/hooks.md tells how.

entry    stands alone: takes one call of an agent to the spool, and is gone
worker   takes what is in the spool into the log, and is gone too
"""
