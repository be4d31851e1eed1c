"""Read models: what the log says, as values and as text.

Every module is `step` (one event forward), `fold` (all events forward) and `render` (value to text), and
all of it is pure: no clock, no environment, no file, no order that the log did not give. `catalogue.py`
folds them all in one pass and knows their names. Words of a conversation are masked when they enter a
value, and fenced or escaped when they leave as text.
"""
