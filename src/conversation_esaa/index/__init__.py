"""The index: where in the log things are, so that an answer costs what it returns and not what is old.

    database     one SQLite file: its tables, and how it is opened
    store        what is in it: positions, identities, keys, full text, the stored fold
    comparison   whether it has what the log has

A cache in every respect: it names the log position it was built from, is brought forward from there, and is
thrown away and built anew when it is another log's, damaged or of another version. Without it every answer
is the same, only slower. No unmasked secret is in it.
"""
