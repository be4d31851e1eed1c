"""Judgement: what an agent or a person settles, as events.

Every function is pure: the state and the words of a command in, draft events out, or a refusal. All is
checked before an event exists, because what is in the log stays there. Ids are counted over everything in
`state`, so the caller folds and appends under one hold of the log's lock.
"""
