"""From turns to events: which files have news, which turns belong here, which are known already.

    cursors   how far each native log was read
    gate      does a directory belong to this workspace?
    dedupe    what the log already has
    sync      the run itself: read, gate, de-duplicate, append, remember

Capture is mechanical. It calls no model, and it writes only by the log's own door.
"""
