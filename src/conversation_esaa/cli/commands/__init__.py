"""One module a command: HELP, `arguments(parser)`, `run(args, call) -> exit code or None`."""
