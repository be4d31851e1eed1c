"""`python -m conversation_esaa`, which leaves as Python does: so profilers and debuggers can wrap it."""

import sys

from conversation_esaa.cli.main import run

sys.exit(run())
