"""The command line: thin. A command parses its words, makes one call of `Workspace`, and shows the answer."""
