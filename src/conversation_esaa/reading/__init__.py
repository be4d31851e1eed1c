"""Answers from the log, one way for every surface: what is asked, which entries, within which budget.

prefix     the log as it was at one moment
query      what to look for
window     which entries of the log that is, in one pass
budget     how much of it fits
freshness  how fresh the answer is
shown      an entry as JSON and as Markdown, secrets masked
page       a window as an answer: Markdown, or one object
handoff    the entry contract
"""
